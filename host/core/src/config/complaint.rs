//! Errors of settings, with the place where somebody typed the value.

use std::path::Path;

use figment::Error;
use figment::error::Kind;

/// Error about a value, with its key in the file or its variable.
pub(super) fn of(error: &Error, file: Option<&Path>) -> anyhow::Error {
    let key = error.path.join(".");
    if let (Kind::UnknownField(unknown, known), Some(file)) = (&error.kind, file) {
        let line = line_of(file, unknown).map(|line| format!(", line {line}")).unwrap_or_default();
        let advice = match nearest(unknown, known) {
            Some(known) => format!("did you mean `{known}`?"),
            None => "`hub serve --help` lists the options, which are the keys".to_owned(),
        };
        return anyhow::anyhow!("{}{line}: there is no option `{unknown}`; {advice}", file.display());
    }
    let metadata = error.metadata.as_ref();
    if let Some(file) = metadata.and_then(|it| it.source.as_ref()?.file_path()) {
        return anyhow::anyhow!("{}, `{key}`: {}", file.display(), error.kind);
    }
    if metadata.is_some_and(|it| it.name.contains("environment")) {
        return anyhow::anyhow!("HUB_{}: {}", key.to_uppercase().replace('-', "_"), error.kind);
    }
    if key.is_empty() {
        return anyhow::anyhow!("{}", error.kind);
    }
    anyhow::anyhow!("--{key}: {}", error.kind)
}

/// Number of the line that sets a key.
fn line_of(file: &Path, key: &str) -> Option<usize> {
    let text = std::fs::read_to_string(file).ok()?;
    let sets = |line: &str| line.trim().strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with('='));
    text.lines().position(sets).map(|line| line + 1)
}

/// Name that somebody probably meant: one that differs in less than a third of its letters.
fn nearest<'k>(given: &str, known: &[&'k str]) -> Option<&'k str> {
    let given = given.to_lowercase().replace('_', "-");
    let near = known.iter().map(|name| (distance(&given, name), *name)).min()?;
    (near.0 * 3 <= near.1.len().max(3)).then_some(near.1)
}

/// Number of letters to insert, delete or replace.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<_> = to.chars().collect();
    let mut row: Vec<_> = (0..=to.len()).collect();
    for (at, letter) in from.chars().enumerate() {
        let (mut diagonal, mut left) = (at, at + 1);
        for (cell, other) in row.iter_mut().skip(1).zip(&to) {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = *cell;
            left = replaced.min(diagonal + 1).min(left + 1);
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = at + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{distance, nearest};

    #[test]
    fn the_nearest_name_is_the_one_with_the_fewest_other_letters() {
        assert_eq!([("", "abc"), ("abc", "abc"), ("kitten", "sitting")].map(|(a, b)| distance(a, b)), [3, 0, 3]);
        let known = ["listen", "lease", "metrics", "public-url"];
        assert_eq!(nearest("listne", &known), Some("listen"));
        assert_eq!(nearest("public_url", &known), Some("public-url"));
        assert_eq!(nearest("colour", &known), None);
    }
}
