//! The options of `hub serve`.

use std::fmt::Write as _;

use clap::{Args as _, Command};

use super::cell;
use crate::config::ServeArgs;

pub(super) fn table() -> String {
    let mut text = String::from("| option | variable | config key | default | meaning |\n|---|---|---|---|---|\n");
    for argument in ServeArgs::augment_args(Command::new("serve")).get_arguments() {
        let name = argument.get_long().unwrap_or_default();
        let values = argument.get_value_names().unwrap_or_default().join(" ");
        let variable = format!("HUB_{}", name.replace('-', "_").to_uppercase());
        let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
        let (meaning, default) = split_default(&help);
        // The config file does not name itself.
        let key = if name == "config" { String::new() } else { format!("`{name}`") };
        let option = cell(&format!("`--{name} {values}`"));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {option} | `{variable}` | {key} | {} | {} |", cell(&default), cell(meaning));
    }
    text
}

/// The meaning and the default of a help text that ends with `[default: …]`.
fn split_default(help: &str) -> (&str, String) {
    let split = help.rsplit_once("[default:").and_then(|(meaning, rest)| Some((meaning, rest.strip_suffix(']')?)));
    let Some((meaning, default)) = split else { return (help, String::new()) };
    let default = default.trim();
    let is_value = default != "none" && (!default.contains(' ') || default.contains('<'));
    let default = if is_value { format!("`{default}`") } else { default.to_owned() };
    (meaning.trim_end(), default)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_taken_from_help_texts() {
        let default = |help| split_default(help).1;
        assert_eq!(split_default("Address [default: 127.0.0.1:8080]"), ("Address", "`127.0.0.1:8080`".to_owned()));
        assert_eq!(default("Sender [default: Hub <hub@localhost>]"), "`Hub <hub@localhost>`");
        assert_eq!(default("Share [default: half of them]"), "half of them");
        assert_eq!(split_default("File [a, b]"), ("File [a, b]", String::new()));
    }
}
