//! Output of the commands: control characters in what others wrote are shown, not sent to the terminal.

use std::fmt::{self, Write as _};
use std::io::{self, IsTerminal as _, Write as _};

use serde::Serialize;

use crate::values::is_invisible;

/// Text in which only line breaks and tabs act on a terminal. The escapes are those of JSON, whose readers get the same
/// text.
pub(super) fn shown(text: fmt::Arguments<'_>) -> String {
    let text = text.to_string();
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '\n' | '\t') || !(character.is_control() || is_invisible(character)) {
            shown.push(character);
        } else {
            for unit in character.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(shown, "\\u{unit:04x}");
            }
        }
    }
    shown
}

/// Writes text to standard output, in which a reader that stopped reading is an error.
pub(super) fn write(text: fmt::Arguments<'_>) -> io::Result<()> {
    io::stdout().lock().write_all(shown(text).as_bytes())
}

pub(super) fn print(text: fmt::Arguments<'_>, end: &str) {
    std::print!("{}{end}", shown(text));
}

pub(super) fn print_error(text: fmt::Arguments<'_>, end: &str) {
    std::eprint!("{}{end}", shown(text));
}

/// Moves a terminal's cursor to the upper left, and clears what follows.
pub(super) fn clear_terminal() {
    if io::stdout().is_terminal() {
        std::print!("\x1b[H\x1b[J");
    }
}

/// Standard output for bytes as they are; none if it is a terminal.
pub(super) fn bytes() -> Option<io::Stdout> {
    let stdout = io::stdout();
    (!stdout.is_terminal()).then_some(stdout)
}

/// Prints one JSON document: on one line for programs, indented for people at a terminal. Its escapes are JSON's own.
pub(super) fn json(value: &impl Serialize) {
    let text =
        if io::stdout().is_terminal() { serde_json::to_string_pretty(value) } else { serde_json::to_string(value) };
    // All that is printed are maps with texts as keys, which cannot fail.
    print(format_args!("{}", text.unwrap_or_default()), "\n");
}

macro_rules! print_json {
    ($value:expr) => {
        $crate::cli::output::json(&$value)
    };
}

/// These hide the standard ones in all commands.
macro_rules! println {
    ($($argument:tt)*) => { $crate::cli::output::print(format_args!($($argument)*), "\n") };
}
macro_rules! print {
    ($($argument:tt)*) => { $crate::cli::output::print(format_args!($($argument)*), "") };
}
macro_rules! eprintln {
    () => { $crate::cli::output::print_error(format_args!(""), "\n") };
    ($($argument:tt)*) => { $crate::cli::output::print_error(format_args!($($argument)*), "\n") };
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn controls_are_shown() {
        let shown = |text: &str| shown(format_args!("{text}"));
        assert_eq!(shown("a\tb\n\u{e9}\u{1f600}"), "a\tb\n\u{e9}\u{1f600}");
        assert_eq!(shown("\u{1b}]0;x\u{7}\r\u{9b}2J\u{202e}"), "\\u001b]0;x\\u0007\\u000d\\u009b2J\\u202e");
    }

    #[test]
    fn readers_of_json_get_the_same_text() {
        // The flag of England: a black flag and the tags of "gbeng", which are invisible.
        let england = "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}";
        let json = shown(format_args!("{}", serde_json::json!([england])));
        assert!(json.contains("\\udb40\\udc67"), "{json}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&json).unwrap(), [england]);
    }
}
