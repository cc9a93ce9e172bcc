//! `hub NOUN VERB`: every operation of a hub's HTTP API as a command, made from the API's document.

mod call;
mod command;
mod names;
mod operation;
mod show;
#[cfg(test)]
mod tests;

use anyhow::Context as _;
use clap::{ArgMatches, Command, CommandFactory as _};

pub(super) use call::request_path;
pub(super) use operation::{Answer, Body, Input, Operation, Place, read as operations};

use super::Cli;

/// Adds the commands of operations to those written by hand, which win over one of the same name. The document is read for the
/// noun at hand only, so that all other commands start at once.
pub(super) fn extend(command: Command, wanted: impl Fn(&str) -> bool) -> Command {
    let nouns = names::nouns();
    let operations = if nouns.iter().any(|(noun, _)| wanted(noun)) { operation::all() } else { &[] };
    nouns.into_iter().fold(command, |command, (noun, about)| {
        let own: Vec<_> = operations.iter().filter(|it| it.noun == noun && wanted(noun)).collect();
        if command.find_subcommand(noun).is_some() {
            command.mut_subcommand(noun, |group| command::add(group, &own))
        } else if let Some(leaf) = own.iter().find(|it| it.verb.is_empty()) {
            command.subcommand(command::leaf(noun, leaf))
        } else {
            let group =
                Command::new(noun).about(about).subcommand_required(!own.is_empty()).arg_required_else_help(true);
            command.subcommand(command::add(group, &own))
        }
    })
}

/// A command that was made from the document.
pub(super) struct Made {
    pub(super) noun: &'static str,
    /// Command with its positional arguments.
    pub(super) usage: String,
    /// Method and path.
    pub(super) call: String,
    pub(super) summary: String,
}

/// All commands made from the document, by noun.
pub(super) fn made() -> Vec<Made> {
    let command = extend(Cli::command(), |_| true);
    let mut made: Vec<_> = operation::all().iter().filter_map(|it| describe(&command, it)).collect();
    made.sort_by(|a, b| (a.noun, &a.usage).cmp(&(b.noun, &b.usage)));
    made
}

fn describe(command: &Command, operation: &Operation) -> Option<Made> {
    let mut command = command.find_subcommand(operation.noun)?;
    if !operation.verb.is_empty() {
        command = command.find_subcommand(&operation.verb)?;
    }
    if !command.get_arguments().any(|it| it.get_id() == command::MADE) {
        return None;
    }
    let names = command.get_positionals().filter_map(|it| it.get_value_names()?.first());
    let parts = ["hub", operation.noun, operation.verb.as_str()].into_iter().filter(|it| !it.is_empty());
    let parts = parts.map(str::to_owned).chain(names.map(ToString::to_string));
    Some(Made {
        noun: operation.noun,
        usage: parts.collect::<Vec<_>>().join(" "),
        call: format!("{} {}", operation.method, operation.path),
        summary: operation.summary.clone(),
    })
}

/// Noun, verb and values of the command that was called, if it is one that was made from the document.
fn called(matches: &ArgMatches) -> Option<(&str, &str, &ArgMatches)> {
    let (noun, matches) = matches.subcommand()?;
    let (verb, matches) = matches.subcommand().unwrap_or(("", matches));
    // It has a default, and is nowhere else. Only debug builds of clap tell an argument that is not declared.
    let is_made = matches.try_contains_id(command::MADE).unwrap_or(false);
    is_made.then_some((noun, verb, matches))
}

/// True if the command that was called was made from the document. It may stand in a group that is a command by itself.
pub(super) fn is_made(matches: &ArgMatches) -> bool {
    called(matches).is_some()
}

/// Runs the operation that was called, if the command is one that was made from the document.
pub(super) async fn run(matches: &ArgMatches) -> anyhow::Result<bool> {
    let Some((noun, verb, matches)) = called(matches) else { return Ok(false) };
    let operation = operation::all().iter().find(|it| it.noun == noun && it.verb == verb);
    call::run(operation.context("the command has no operation")?, matches).await?;
    Ok(true)
}
