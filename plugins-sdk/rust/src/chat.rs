//! The extension point `chat`: every line of the network's chat, before it is shown.

pub use crate::bindings::chat::exports::network_hub::module::chat::{Decision, Line, Mute, Verdict};

use crate::CallContext;
use crate::bindings::chat::exports::network_hub::module::chat::Guest;
use crate::entry::{Exported, start};
use std::ops::Range;

/// Decides about chat lines. Export it with [`export`](crate::export).
pub trait Chat {
    /// Decides about one line, original or rewritten by the previous module of the chain.
    fn filter(context: &CallContext, line: &Line) -> Verdict;
}

impl Verdict {
    /// Sends the line unchanged.
    pub fn allow() -> Self {
        Self { decision: Decision::Allow, mute: None }
    }

    /// Sends the line with this text: 1 to 1,024 characters without control characters.
    pub fn rewrite(message: impl Into<String>) -> Self {
        Self { decision: Decision::Rewrite(message.into()), mute: None }
    }

    /// Refuses the line and shows its sender the reason: 1 to 256 characters.
    pub fn refuse(reason: impl Into<String>) -> Self {
        Self { decision: Decision::Refuse(reason.into()), mute: None }
    }

    /// Also mutes the sender from now on, for 1 ms to 10 years.
    #[must_use]
    pub fn and_mute(mut self, duration_ms: u64, reason: impl Into<String>) -> Self {
        self.mute = Some(Mute { duration_ms, reason: reason.into() });
        self
    }
}

/// The visible characters of a line, with their positions in bytes: without formatting codes (`&a`, `§l`, `&#ff8800`)
/// and characters of no width, which are used to disguise words.
pub fn visible(message: &str) -> impl Iterator<Item = (usize, char)> + '_ {
    let mut rest = message;
    std::iter::from_fn(move || {
        loop {
            let at = message.len() - rest.len();
            let letter = rest.chars().next()?;
            let skipped = hidden_length(rest);
            rest = &rest[skipped.unwrap_or(letter.len_utf8())..];
            if skipped.is_none() {
                return Some((at, letter));
            }
        }
    })
}

/// The line with a star for each character in these ranges of bytes, which are in order, apart, and of whole characters.
pub fn mask(message: &str, found: &[Range<usize>]) -> String {
    let mut masked = String::with_capacity(message.len());
    let mut done = 0;
    for range in found {
        masked.push_str(&message[done..range.start]);
        masked.extend(message[range.clone()].chars().map(|_| '*'));
        done = range.end;
    }
    masked.push_str(&message[done..]);
    masked
}

/// The length in bytes of an invisible sequence at the beginning of a text.
fn hidden_length(text: &str) -> Option<usize> {
    let mut letters = text.chars();
    let first = letters.next()?;
    match first {
        '&' | '§' => match letters.next()? {
            '#' => {
                let colour = letters.as_str().get(..6)?;
                colour.bytes().all(|digit| digit.is_ascii_hexdigit()).then_some(first.len_utf8() + 7)
            }
            '0'..='9' | 'a'..='f' | 'A'..='F' | 'k'..='o' | 'K'..='O' | 'r' | 'R' | 'x' | 'X' => {
                Some(first.len_utf8() + 1)
            }
            _ => None,
        },
        '\u{ad}'
        | '\u{34f}'
        | '\u{180e}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{2064}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' => Some(first.len_utf8()),
        _ => None,
    }
}

impl<T: Chat> Guest for Exported<T> {
    fn filter(context: CallContext, line: Line) -> Verdict {
        start();
        T::filter(&context, &line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visible_text(message: &str) -> String {
        visible(message).map(|(_, letter)| letter).collect()
    }

    #[test]
    fn invisible_characters_are_left_out() {
        assert_eq!(visible_text("&ared §Lbold&r &#ff8800or\u{200b}ange"), "red bold orange");
        assert_eq!(visible_text("this & that, 5&, R&"), "this & that, 5&, R&");
        assert_eq!(visible_text("&#ff88 &#ff88zz §#é12345"), "&#ff88 &#ff88zz §#é12345");
        assert_eq!(visible_text(""), "");
    }

    #[test]
    fn a_mask_keeps_the_number_of_characters() {
        assert_eq!(mask("say übel, now", &[0..3, 4..9]), "*** ****, now");
        assert_eq!(mask("", &[]), "");
    }

    #[test]
    fn positions_are_those_of_the_message() {
        let line = "ä§cb&&1c";
        let seen: Vec<_> = visible(line).collect();
        assert_eq!(seen, [(0, 'ä'), (5, 'b'), (6, '&'), (9, 'c')]);
        assert!(seen.iter().all(|&(at, letter)| line[at..].starts_with(letter)));
    }
}
