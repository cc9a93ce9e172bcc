//! All commands with their help.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use clap::{Arg, Args, Command, CommandFactory as _};

use crate::cli::Cli;
use crate::config::{ServeArgs, StorageArgs};

pub(super) fn sections() -> String {
    let mut command = Cli::command();
    command.build();
    let mut text = String::new();
    for sub in subcommands(&command) {
        write_command(sub, &format!("hub {}", sub.get_name()), 2, &mut text);
    }
    text
}

fn subcommands(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help")
}

fn arguments(command: &Command) -> impl Iterator<Item = &Arg> {
    let is_added = |id: &str| matches!(id, "help" | "version");
    command.get_arguments().filter(move |argument| !argument.is_hide_set() && !is_added(argument.get_id().as_str()))
}

fn write_command(command: &Command, name: &str, level: usize, text: &mut String) {
    let about = command.get_long_about().or(command.get_about()).map(ToString::to_string).unwrap_or_default();
    let stop = if about.ends_with('.') { "" } else { "." };
    // Writing to a string cannot fail.
    let _ = write!(text, "{} {name}\n\n{about}{stop}\n\n", "#".repeat(level));
    let mut subs = subcommands(command).peekable();
    if subs.peek().is_none() {
        write_usage(command, text);
        return;
    }
    for sub in subs {
        write_command(sub, &format!("{name} {}", sub.get_name()), level + 1, text);
    }
}

fn write_usage(command: &Command, text: &mut String) {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim();
    let _ = write!(text, "    {usage}\n\n");
    let own: BTreeSet<_> = arguments(command).map(|argument| argument.get_id().to_string()).collect();
    let shared = [
        (ids::<ServeArgs>(), "All [options of `hub serve`](configuration.md)."),
        (
            ids::<StorageArgs>(),
            "The [options of the database](configuration.md): `--data`, `--database`, `--blobs`, `--secrets-key`, \
             `--config`.",
        ),
    ];
    let shared = shared.iter().find(|(ids, _)| ids.is_subset(&own));
    let mut lines: Vec<_> = arguments(command)
        .filter(|argument| !shared.is_some_and(|(ids, _)| ids.contains(argument.get_id().as_str())))
        .map(line)
        .collect();
    lines.extend(shared.map(|(_, line)| format!("- {line}\n")));
    if !lines.is_empty() {
        let _ = writeln!(text, "{}", lines.concat());
    }
}

/// The names of a group of options.
fn ids<T: Args>() -> BTreeSet<String> {
    T::augment_args(Command::new("")).get_arguments().map(|argument| argument.get_id().to_string()).collect()
}

/// An argument with its help, choices, default and variable.
fn line(argument: &Arg) -> String {
    let mut text = format!("- `{argument}`: {}", argument.get_help().map(ToString::to_string).unwrap_or_default());
    let values: Vec<_> = argument
        .get_possible_values()
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    if !values.is_empty() {
        let _ = write!(text, " [{}]", values.join(", "));
    }
    let defaults: Vec<_> = argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if !defaults.is_empty() && argument.get_action().takes_values() {
        let _ = write!(text, " [default: `{}`]", defaults.join(","));
    }
    if let Some(variable) = argument.get_env().filter(|_| !argument.is_hide_env_set()) {
        let _ = write!(text, " [variable: `{}`]", variable.to_string_lossy());
    }
    text.push('\n');
    text
}
