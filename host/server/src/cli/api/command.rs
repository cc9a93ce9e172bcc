//! Commands of operations.

use clap::builder::{BoolishValueParser, PossibleValuesParser};
use clap::{Arg, ArgAction, Args as _, Command, value_parser};

use super::names::kebab;
use super::operation::{Answer, Body, Input, Kind, Operation, Place};
use crate::cli::remote::Remote;

/// Argument that only commands of operations have, by this id.
pub(super) const MADE: &str = "api.json";
pub(super) const WATCH: &str = "api.watch";
pub(super) const BODY: &str = "api.body";
pub(super) const FILE: &str = "api.file";
pub(super) const OUTPUT: &str = "api.output";

/// Options of every command, whose names fields cannot have.
const TAKEN: [&str; 9] = ["help", "version", "hub", "key", "profile", "json", "watch", "body", "output"];

/// Adds commands to a group, but for those that it has.
pub(super) fn add(group: Command, operations: &[&Operation]) -> Command {
    operations.iter().fold(group, |group, operation| {
        if group.find_subcommand(&operation.verb).is_some() {
            group
        } else {
            group.subcommand(leaf(&operation.verb, operation))
        }
    })
}

/// Command of an operation.
pub(super) fn leaf(name: &str, operation: &Operation) -> Command {
    let help = format!("{}\n\n{}", operation.summary, operation.description);
    let mut command = Command::new(name.to_owned())
        .about(operation.summary.clone())
        .long_about(help.trim().to_owned())
        .after_help(format!("Calls {} {}", operation.method, operation.path));
    // Positions are those of the path.
    let in_path = |name: &str| operation.path.find(&format!("{{{name}}}"));
    let mut path: Vec<_> = operation.inputs.iter().filter(|input| input.place == Place::Path).collect();
    path.sort_by_key(|input| in_path(&input.name));
    command = command.args(path.into_iter().map(argument));
    command =
        match operation.body {
            Some(Body::Bytes(_)) => command
                .arg(Arg::new(FILE).value_name("FILE").help("File to send; `-` is standard input").required(true)),
            Some(Body::Json { .. }) => {
                command.arg(Arg::new(BODY).long("body").value_name("JSON").help(
                    "The whole body as JSON; `@FILE` reads a file, `-` standard input. Options change fields of it",
                ))
            }
            None => command,
        };
    command = command.args(operation.inputs.iter().filter(|input| input.place != Place::Path).map(argument));
    if operation.answer == Answer::Bytes {
        let help = "File to write, which must not exist; default: standard output";
        command = command.arg(Arg::new(OUTPUT).long("output").value_name("FILE").help(help));
    }
    if operation.method == "GET" && operation.answer == Answer::Json {
        let help = "Ask again every two seconds, until stopped";
        command = command.arg(Arg::new(WATCH).long("watch").action(ArgAction::SetTrue).help(help));
    }
    let json = Arg::new(MADE).long("json").action(ArgAction::SetTrue).help("Print JSON");
    Remote::augment_args(command.arg(json))
}

/// An input's argument, as somebody types it.
pub(super) fn shown(input: &Input) -> String {
    let name = kebab(&input.name);
    match input.place {
        Place::Path => format!("<{}>", name.to_uppercase().replace('-', "_")),
        _ => format!("--{}", long(name)),
    }
}

/// Name of the option of a field: some belong to options of every command.
fn long(name: String) -> String {
    if TAKEN.contains(&&*name) { format!("{name}-field") } else { name }
}

/// Id of an input's argument.
pub(super) fn id(input: &Input) -> String {
    format!("{:?}.{}", input.place, input.name)
}

fn argument(input: &Input) -> Arg {
    let help = if input.help.is_empty() { format!("The field {}", input.name) } else { first_line(&input.help) };
    let arg = Arg::new(id(input)).help(help);
    let name = kebab(&input.name);
    if input.place == Place::Path {
        return arg.value_name(name.to_uppercase().replace('-', "_")).required(true).allow_hyphen_values(true);
    }
    let long = long(name);
    let arg = match input.place {
        Place::Body if input.is_required => arg.required_unless_present(BODY),
        _ => arg.required(input.is_required),
    };
    let arg = arg.long(long).value_name(value_name(&input.kind));
    // The value of a Boolean may be left out, so that another option can follow.
    let arg = arg.allow_hyphen_values(!matches!(input.kind, Kind::Boolean));
    match &input.kind {
        Kind::Integer => arg.value_parser(value_parser!(i64)),
        Kind::Number => arg.value_parser(value_parser!(f64)),
        Kind::Boolean => arg.value_parser(BoolishValueParser::new()).num_args(0..=1).default_missing_value("true"),
        Kind::Choice(values) => arg.value_parser(PossibleValuesParser::new(values.clone())).ignore_case(true),
        Kind::Texts => arg.action(ArgAction::Append),
        Kind::Text | Kind::Json => arg,
    }
}

fn value_name(kind: &Kind) -> &'static str {
    match kind {
        Kind::Integer | Kind::Number => "NUMBER",
        Kind::Boolean => "BOOL",
        Kind::Choice(_) => "CHOICE",
        Kind::Text | Kind::Texts => "TEXT",
        Kind::Json => "JSON",
    }
}

fn first_line(text: &str) -> String {
    text.split("\n\n").next().unwrap_or_default().replace('\n', " ").trim_end_matches('.').to_owned()
}
