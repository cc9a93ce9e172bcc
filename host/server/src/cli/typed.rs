//! JSON that somebody typed into an option, or put into a file that an option names.

use anyhow::Context as _;
use serde::de::DeserializeOwned;

/// Characters before a mistake that are shown.
const SHOWN: usize = 24;

/// Reads the value of an option: JSON, or the JSON in a file after `@`.
pub(super) fn json_or_file<T: DeserializeOwned>(option: &str, typed: &str) -> anyhow::Result<T> {
    match typed.strip_prefix('@') {
        Some(file) => {
            let text = std::fs::read_to_string(file).with_context(|| format!("{option}: cannot read {file}"))?;
            // A file has lines.
            serde_json::from_str(&text).with_context(|| format!("{option}: {file} is not valid JSON"))
        }
        None => json(option, typed),
    }
}

/// Reads JSON that was typed: a mistake is shown by what stands before it, since nobody counts columns of a shell's line.
pub(super) fn json<T: DeserializeOwned>(option: &str, typed: &str) -> anyhow::Result<T> {
    serde_json::from_str(typed).map_err(|error| {
        let reason = error.to_string();
        let reason = reason.split(" at line ").next().unwrap_or_default().to_owned();
        // The column is in bytes; at an end too early it is that of the last one.
        let read = if error.is_eof() { error.column() } else { error.column().saturating_sub(1) };
        let before = typed.get(..read).unwrap_or(typed);
        let skipped = before.chars().count().saturating_sub(SHOWN);
        let shown: String = before.chars().skip(skipped).collect();
        let place = if shown.trim().is_empty() { String::new() } else { format!(", after `{shown}`") };
        anyhow::anyhow!("{option} is not valid JSON: {reason}{place}")
    })
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::json;

    #[test]
    fn mistakes_are_shown_by_what_stands_before_them() {
        let told = |typed| json::<Value>("--body", typed).unwrap_err().to_string();
        assert_eq!(told("{"), "--body is not valid JSON: EOF while parsing an object, after `{`");
        assert_eq!(told("nothing"), "--body is not valid JSON: expected ident, after `n`");
        let long = format!("{{\"name\": \"{}\", x}}", "a".repeat(50));
        assert!(told(&long).ends_with("after `aaaaaaaaaaaaaaaaaaaaa\", `"), "{}", told(&long));
    }
}
