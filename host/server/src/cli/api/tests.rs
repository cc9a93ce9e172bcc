//! Every operation is a command.

use std::collections::BTreeSet;

use clap::CommandFactory as _;

use super::{extend, names, operation, show};
use crate::cli::Cli;

#[test]
fn every_operation_is_a_command() {
    let document = crate::router::document();
    for tag in document["tags"].as_array().unwrap() {
        let tag = tag["name"].as_str().unwrap();
        assert!(names::noun(tag).is_some(), "no commands for {tag}");
    }
    // Groups written by hand for the same operations.
    let by_hand = ["delivery", "module", "webhook", "import"];
    let command = extend(Cli::command(), |_| true);
    let mut seen = BTreeSet::new();
    for operation in operation::all() {
        let name = format!("hub {} {}", operation.noun, operation.verb);
        assert!(seen.insert(name.clone()), "two operations are `{name}`");
        let group = command.find_subcommand(operation.noun).unwrap_or_else(|| panic!("no `{name}`"));
        if operation.verb.is_empty() {
            continue;
        }
        let found = group.find_subcommand(&operation.verb).unwrap_or_else(|| panic!("no `{name}`"));
        let is_made = found.get_arguments().any(|it| it.get_id() == super::command::MADE);
        assert!(is_made || by_hand.contains(&operation.noun), "`{name}` hides {}", operation.id);
    }
    command.debug_assert();
}

#[test]
fn verbs_are_ids_without_the_noun() {
    let verbs =
        [("server", "listServers"), ("person", "invitePerson"), ("player", "getPlayerData"), ("api-key", "rotateKey")];
    let verbs = verbs.map(|(noun, id)| names::verb(noun, id));
    assert_eq!(verbs, ["list", "invite", "get-data", "rotate"]);
}

#[test]
fn lists_are_tables_and_objects_are_lines() {
    let list = serde_json::json!({"total": 2, "items": [
        {"note": "a\nb", "serverId": "lobby-1", "lastSeen": 1_700_000_000_000_i64},
        {"note": null, "serverId": "x", "tags": ["a", "b"]},
    ]});
    let expected = "serverId  note  lastSeen                  tags\n\
                    lobby-1   a b   2023-11-14T22:13:20.000Z  -\n\
                    x         -     -                         a, b\n\ntotal: 2\n";
    assert_eq!(show::answer(&list), expected);
    assert_eq!(show::answer(&serde_json::json!({"b": 1, "name": "n"})), "name  n\nb     1\n");
    let changed = show::answer(&serde_json::json!({"id": 1, "edits": [{"field": "reason"}]}));
    assert!(changed.starts_with("id     1\nedits  [\n"), "{changed}");
    assert_eq!(show::answer(&serde_json::json!({"items": []})), "Nothing found.\n");
}
