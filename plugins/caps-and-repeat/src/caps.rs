//! Lines in capitals.

use crate::config::Caps;
use network_hub_module::chat::visible;

/// The line in lower case, if too much of it is in capitals.
pub(crate) fn lowered(caps: &Caps, message: &str) -> Option<String> {
    let counted: Vec<(usize, char)> = words(message)
        .filter(|(_, word)| !is_kept(caps, word))
        .flat_map(|(at, word)| visible(word).map(move |(offset, letter)| (at + offset, letter)))
        .collect();
    // Letters of scripts without capitals count as neither.
    let capitals = counted.iter().filter(|(_, letter)| letter.is_uppercase()).count();
    let letters = capitals + counted.iter().filter(|(_, letter)| letter.is_lowercase()).count();
    if letters < caps.min_letters || capitals * 100 <= caps.max_percent * letters {
        return None;
    }
    let mut line = String::with_capacity(message.len());
    let mut done = 0;
    for (at, letter) in counted {
        line.push_str(&message[done..at]);
        line.push(lower(letter));
        done = at + letter.len_utf8();
    }
    line.push_str(&message[done..]);
    Some(line)
}

/// The words of a line, with their positions.
fn words(message: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    message.split_inclusive(char::is_whitespace).map(move |word| {
        let start = at;
        at += word.len();
        (start, word)
    })
}

/// Links change their meaning in lower case; configured words stay as they are.
fn is_kept(caps: &Caps, word: &str) -> bool {
    let bare: String = visible(word).map(|(_, letter)| letter).filter(|letter| letter.is_alphanumeric()).collect();
    word.contains("://") || caps.keep.contains(&bare)
}

/// Keeps letters with several lower-case characters: a line must not grow.
fn lower(letter: char) -> char {
    let mut lower = letter.to_lowercase();
    lower.next().filter(|_| lower.next().is_none()).unwrap_or(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lower_line(message: &str) -> Option<String> {
        lowered(&Caps::default(), message)
    }

    #[test]
    fn a_line_in_capitals_is_lowered() {
        assert_eq!(lower_line("STOP DOING THAT!!!").as_deref(), Some("stop doing that!!!"));
        assert_eq!(lower_line("ПРЕКРАТИ ЭТО").as_deref(), Some("прекрати это"));
        assert_eq!(lower_line("ÄRGERLICH IST DAS").as_deref(), Some("ärgerlich ist das"));
    }

    #[test]
    fn lines_with_few_capitals_stay() {
        for message in [
            "",
            "OK",
            "GG WP",
            "WTF 123!!!",
            "Hello There Steve",
            "你好你好你好你好",
            "!!!!!!!!!!!!",
            "Only HALF OF it is",
        ] {
            assert_eq!(lower_line(message), None, "{message}");
        }
    }

    #[test]
    fn formatting_codes_are_not_counted_and_stay() {
        assert_eq!(lower_line("&L&Chi there&R &Cyou"), None);
        assert_eq!(lower_line("&LLOUD &C§LPEOPLE").as_deref(), Some("&Lloud &C§Lpeople"));
    }

    #[test]
    fn kept_words_and_links_are_neither_counted_nor_changed() {
        let caps = Caps { keep: vec!["AFK".into(), "PVP".into()], ..Caps::default() };
        assert_eq!(lowered(&caps, "AFK AFK, PVP hello"), None);
        assert_eq!(lowered(&caps, "WE PLAY PVP! HERE").as_deref(), Some("we play PVP! here"));
        assert_eq!(lowered(&caps, "LOOK AT THIS https://A.b/ABC").as_deref(), Some("look at this https://A.b/ABC"));
    }

    #[test]
    fn a_line_never_grows() {
        let line = "İ".repeat(1024);
        assert_eq!(lower_line(&line).map(|lowered| lowered.chars().count()), Some(1024));
    }
}
