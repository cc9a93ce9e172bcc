//! Finds listed words in a line, also disguised ones.

use crate::config::Config;
use network_hub_module::chat::visible;
use std::ops::Range;

/// The byte ranges of listed words, in order and without overlaps.
pub(crate) fn find(config: &Config, message: &str) -> Vec<Range<usize>> {
    let line: Vec<Letter> = visible(message)
        .map(|(start, letter)| Letter {
            folded: fold(letter, config.fold),
            is_separator: !letter.is_alphanumeric(),
            start,
            end: start + letter.len_utf8(),
        })
        .collect();
    // When folding, spaces in a listed word are optional, like those between the letters of a line.
    let letters = |word: &String| {
        let kept = word.chars().filter(|letter| !(config.fold && letter.is_whitespace()));
        kept.map(|letter| fold(letter, config.fold)).collect()
    };
    let words: Vec<Vec<char>> = config.words.iter().map(letters).collect();
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while at < line.len() {
        let longest = words.iter().filter_map(|word| word_end(config, &line, at, word)).max();
        match longest {
            Some(end) => {
                found.push(line[at].start..line[end - 1].end);
                at = end;
            }
            None => at += 1,
        }
    }
    found
}

/// A character of the line.
struct Letter {
    folded: char,
    is_separator: bool,
    start: usize,
    end: usize,
}

/// The end of a word that begins at a position.
fn word_end(config: &Config, line: &[Letter], from: usize, word: &[char]) -> Option<usize> {
    let (&first, rest) = word.split_first()?;
    if line[from].folded != first || (config.whole_words && from > 0 && !line[from - 1].is_separator) {
        return None;
    }
    let mut at = from + 1;
    let mut last = first;
    for &letter in rest {
        // Skips separators and repetitions of the last letter.
        while config.fold
            && line.get(at).is_some_and(|next| next.folded != letter && (next.is_separator || next.folded == last))
        {
            at += 1;
        }
        if line.get(at)?.folded != letter {
            return None;
        }
        last = letter;
        at += 1;
    }
    while config.fold && line.get(at).is_some_and(|next| next.folded == last) {
        at += 1;
    }
    let ends = !config.whole_words || line.get(at).is_none_or(|next| next.is_separator);
    ends.then_some(at)
}

/// A letter in its form for comparison: in lower case and, when folding, without the usual disguises.
fn fold(letter: char, disguises: bool) -> char {
    let lower = letter.to_lowercase().next().unwrap_or(letter);
    match lower {
        '0' if disguises => 'o',
        '1' | '!' if disguises => 'i',
        '3' if disguises => 'e',
        '4' | '@' if disguises => 'a',
        '5' | '$' if disguises => 's',
        '7' | '+' if disguises => 't',
        _ => lower,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use network_hub_module::chat::mask;

    fn masked(config: &Config, message: &str) -> String {
        mask(message, &find(config, message))
    }

    fn config(words: &[&str]) -> Config {
        Config { words: words.iter().map(ToString::to_string).collect(), ..Config::default() }
    }

    #[test]
    fn words_are_found_in_any_case_and_only_whole() {
        let config = config(&["ass"]);
        assert_eq!(masked(&config, "ASS, class, assist"), "***, class, assist");
        let parts = Config { whole_words: false, ..config };
        assert_eq!(masked(&parts, "class"), "cl***");
    }

    #[test]
    fn disguised_words_are_found() {
        let config = config(&["darn"]);
        for disguised in ["d4rn", "D@RN", "d a r n", "d.a-r_n", "daaarrn", "d  4 r n", "darnnn"] {
            assert_eq!(masked(&config, disguised), "*".repeat(disguised.len()), "{disguised}");
        }
        let plain = Config { fold: false, ..config };
        assert_eq!(masked(&plain, "d4rn d a r n darn"), "d4rn d a r n ****");
    }

    #[test]
    fn words_with_formatting_codes_are_found() {
        assert_eq!(masked(&config(&["darn"]), "&cd§aar\u{200b}n &lfine"), "&c******* &lfine");
    }

    #[test]
    fn a_disguised_letter_can_be_a_sign() {
        // `$` is a separator that stands for a letter.
        assert_eq!(masked(&config(&["boss"]), "bo$$ !"), "**** !");
    }

    #[test]
    fn other_characters_are_unchanged() {
        let config = config(&["übel", "darn it"]);
        assert_eq!(masked(&config, "so ÜBEL, ja"), "so ****, ja");
        assert_eq!(masked(&config, "well darn it all"), "well ******* all");
        assert_eq!(masked(&config, "dar nit"), "*******");
        assert_eq!(masked(&config, ""), "");
    }

    #[test]
    fn the_longest_word_counts() {
        assert_eq!(masked(&config(&["dam", "damsel"]), "damsel"), "******");
        assert_eq!(masked(&config(&["a", ""]), "a b a"), "* b *");
    }
}
