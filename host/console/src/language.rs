//! Languages of the console. Texts are written in English in the templates; `files/languages` translates them, and the
//! words of the API.

use std::collections::HashMap;
use std::sync::LazyLock;

use minijinja::value::{Kwargs, Value};

/// A language, and its translations of the English texts.
#[derive(Debug)]
pub(crate) struct Language {
    code: &'static str,
    texts: HashMap<String, String>,
}

static LANGUAGES: LazyLock<[Language; 2]> = LazyLock::new(|| {
    let read = |text: &str| serde_json::from_str(text).unwrap_or_default();
    [
        Language { code: "en", texts: read(include_str!("../files/languages/en.json")) },
        Language { code: "de", texts: read(include_str!("../files/languages/de.json")) },
    ]
});

impl Language {
    /// All languages, English first.
    pub(crate) fn all() -> &'static [Self] {
        &*LANGUAGES
    }

    pub(crate) fn code(&self) -> &'static str {
        self.code
    }

    /// The chosen language, or else the first one that the browser names.
    pub(crate) fn choose(chosen: Option<&str>, accepted: &str) -> &'static Self {
        let find = |code: &str| Self::all().iter().find(|language| language.code == code);
        let mut named = accepted.split(',').map(|part| part.split([';', '-']).next().unwrap_or_default().trim());
        chosen.and_then(find).or_else(|| named.find_map(find)).unwrap_or(&Self::all()[0])
    }

    /// The text in this language. `one|many` is two forms, of which `n` chooses; `{name}` is a value.
    pub(crate) fn text(&self, text: &str, values: &Kwargs) -> String {
        let translated = self.texts.get(text).map_or(text, String::as_str);
        let n = values.peek::<i64>("n").ok();
        let form = match (translated.split_once('|'), n) {
            (Some((one, _)), Some(1)) => one,
            (Some((_, many)), _) => many,
            (None, _) => translated,
        };
        let mut filled = form.to_owned();
        for name in values.args() {
            if let Ok(value) = values.peek::<Value>(name) {
                let shown = value.as_i64().filter(|_| value.is_number()).map_or_else(|| value.to_string(), number);
                filled = filled.replace(&format!("{{{name}}}"), &shown);
            }
        }
        filled
    }

    #[cfg(test)]
    pub(crate) fn translates(&self, text: &str) -> bool {
        self.texts.contains_key(text)
    }
}

/// A number with thousands separators.
pub(crate) fn number(value: i64) -> String {
    let digits = value.unsigned_abs().to_string();
    let mut text = if value < 0 { "−".to_owned() } else { String::new() };
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_choose_a_language_and_people_another() {
        let code = |chosen, accepted| Language::choose(chosen, accepted).code();
        assert_eq!(code(None, "fr-CH, de-CH;q=0.9, en;q=0.8"), "de");
        assert_eq!(code(Some("en"), "de"), "en");
        assert_eq!((code(None, ""), code(Some("xx"), "ja")), ("en", "en"));
    }

    #[test]
    fn texts_have_two_forms_and_values() {
        let english = &Language::all()[0];
        let text = |n: i64| {
            english.text(
                "{n} server of {name}|{n} servers of {name}",
                &Kwargs::from_iter([("n", Value::from(n)), ("name", Value::from("x"))]),
            )
        };
        assert_eq!((text(1), text(12_345)), ("1 server of x".to_owned(), "12\u{202f}345 servers of x".to_owned()));
    }
}
