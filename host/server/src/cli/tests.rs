//! Tests that cover all commands.

use clap::{Command, CommandFactory as _};

use super::Cli;
use crate::limits::PlanLimits;

/// Collects the executable commands with their full names.
fn leaves(command: &Command, name: &str, found: &mut Vec<(String, Command)>) {
    let before = found.len();
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        leaves(sub, &format!("{name} {}", sub.get_name()), found);
    }
    if found.len() == before {
        found.push((name.to_owned(), command.clone()));
    }
}

fn commands() -> Vec<(String, Command)> {
    let mut found = vec![];
    leaves(&Cli::command(), "hub", &mut found);
    assert!(found.len() > 25, "{}", found.len());
    found
}

#[test]
fn every_argument_has_a_help_text() {
    Cli::command().debug_assert();
    for (name, command) in commands() {
        assert!(command.get_about().is_some(), "{name}");
        for argument in command.get_arguments() {
            let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.len() > 5, "{name}: {}", argument.get_id());
        }
    }
}

#[test]
fn every_command_that_answers_has_json() {
    // These run until stopped, or print something other than a result.
    let others = [
        "hub admin player forgotten",
        "hub serve",
        "hub demo",
        "hub openapi",
        "hub completions",
        "hub man",
        "hub mcp",
        "hub admin audit export",
        "hub admin player export",
    ];
    for (name, command) in commands() {
        let has_json = command.get_arguments().any(|argument| argument.get_id() == "json");
        assert_eq!(has_json, !others.contains(&&*name), "{name}");
    }
}

#[test]
fn the_help_of_plans_names_every_limit() {
    let limits = serde_json::to_value(PlanLimits::default()).unwrap();
    for (name, command) in
        commands().iter().filter(|(name, _)| matches!(&**name, "hub admin plan create" | "hub admin plan set"))
    {
        let limit = command.get_arguments().find(|argument| argument.get_long() == Some("limit")).unwrap();
        let help = limit.get_help().unwrap().to_string();
        let named: Vec<_> = help.split(|character: char| !character.is_alphanumeric()).collect();
        for limit in limits.as_object().unwrap().keys() {
            assert!(named.contains(&limit.as_str()), "{name}: {limit}");
        }
    }
}
