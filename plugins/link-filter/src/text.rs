//! Normalizes a line: without formatting codes, in lower case, disguised dots as dots.

use network_hub_module::chat::visible;
use std::ops::Range;

/// A normalized character, and its position in the message.
#[derive(Clone, Debug)]
pub(crate) struct Letter {
    pub(crate) read: char,
    pub(crate) dot: Dot,
    pub(crate) bytes: Range<usize>,
}

/// Certainty that a dot is part of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dot {
    /// No dot.
    No,
    /// Written like in a link, or disguised: `[dot]`, ` .com`.
    Sure,
    /// With spaces around it, or the word alone: `example . com`, `example dot com`.
    Loose,
}

/// Normalizes a line.
pub(crate) fn read(message: &str) -> Vec<Letter> {
    let plain: Vec<Letter> = visible(message)
        .map(|(at, letter)| Letter { read: fold(letter), dot: Dot::No, bytes: at..at + letter.len_utf8() })
        .collect();
    let mut line = Vec::with_capacity(plain.len());
    let mut at = 0;
    while let Some(letter) = plain.get(at) {
        let (dot, end) = dot(&plain, at).unwrap_or((Dot::No, at + 1));
        let bytes = letter.bytes.start..plain[end - 1].bytes.end;
        let read = if dot == Dot::No { letter.read } else { '.' };
        line.push(Letter { read, dot, bytes });
        at = end;
    }
    line
}

/// Lower case, full-width letters as ASCII, all kinds of dots as dots.
fn fold(letter: char) -> char {
    let letter = match letter {
        '\u{3002}' | '\u{ff61}' | '\u{2024}' => '.',
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(letter as u32 - 0xfee0).unwrap_or(letter),
        letter => letter,
    };
    letter.to_lowercase().next().unwrap_or(letter)
}

/// The dot that begins here, disguised or not, and its end.
fn dot(line: &[Letter], from: usize) -> Option<(Dot, usize)> {
    let start = spaces(line, from);
    let spaced = start > from;
    let (opened, at) = match line.get(start)?.read {
        '(' | '[' | '{' | '<' => (true, spaces(line, start + 1)),
        _ => (false, start),
    };
    let word = ['d', 'o', 't'].iter().enumerate().all(|(offset, letter)| is(line, at + offset, *letter));
    let end = at + if word { 3 } else { 1 };
    if !word && !is(line, at, '.') {
        return None;
    }
    if opened {
        let close = spaces(line, end);
        let closed = matches!(line.get(close)?.read, ')' | ']' | '}' | '>');
        return closed.then(|| (Dot::Sure, spaces(line, close + 1)));
    }
    let next = spaces(line, end);
    let followed = next > end;
    match (word, spaced, followed) {
        // The end of a sentence.
        (false, false, true) => None,
        // One of several dots.
        (false, ..) if is(line, next, '.') || (at > 0 && is(line, at - 1, '.')) => None,
        (false, _, false) => Some((Dot::Sure, end)),
        (_, true, true) => Some((Dot::Loose, next)),
        (true, ..) => None,
    }
}

fn is(line: &[Letter], at: usize, read: char) -> bool {
    line.get(at).is_some_and(|letter| letter.read == read)
}

/// End of the spaces that begin here.
fn spaces(line: &[Letter], from: usize) -> usize {
    let spaces = line.get(from..).unwrap_or_default().iter().take_while(|letter| letter.read.is_whitespace());
    from + spaces.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(message: &str) -> String {
        let letters = read(message).into_iter();
        letters.map(|letter| if letter.dot == Dot::Loose { '~' } else { letter.read }).collect()
    }

    #[test]
    fn disguised_dots_are_found() {
        for disguised in [
            "example.com",
            "EXAMPLE[dot]com",
            "example (.) com",
            "example{ DOT }com",
            "ex&aample\u{3002}com",
            "ｅxample .com",
        ] {
            assert_eq!(seen(disguised), "example.com", "{disguised}");
        }
        for loose in ["example . com", "example dot com", "example  DOT  com"] {
            assert_eq!(seen(loose), "example~com", "{loose}");
        }
    }

    #[test]
    fn dots_of_sentences_are_no_dots_of_links() {
        for text in ["well. come on", "well... com", "a dotted line", "polkadot com", "(dotted)", "dot com", "[dot"] {
            assert_eq!(seen(text), text, "{text}");
        }
    }

    #[test]
    fn letters_keep_their_positions() {
        let message = "ä [dot] c§ao";
        let written: Vec<_> = read(message).into_iter().map(|letter| &message[letter.bytes]).collect();
        assert_eq!(written, ["ä", " [dot] ", "c", "o"]);
    }
}
