//! The parser must survive any file. Its results are tested through the hub's API.

use proptest::prelude::*;

use super::*;
use crate::imports::forms::Expected;
use crate::imports::testing::{budget, read_text};

const NOW: Millis = 1_000_000;

fn read_all(text: &[u8]) -> Result<Vec<Item>, ParseError> {
    read_text(|input, sink| read(input, NOW, &Findings::default(), sink), text, Expected::LuckPerms)
}

fn group(nodes: &str) -> GroupImport {
    let items = read_all(format!("{{\"groups\": {{\"a\": {{\"nodes\": [{nodes}]}}}}}}").as_bytes()).unwrap();
    match &items[0].record {
        Record::Group(group) => group.clone(),
        record => panic!("{record:?}"),
    }
}

#[test]
fn a_sink_that_stops_stops_the_reader() {
    let text = "{\"groups\": {\"a\": {\"nodes\": []}, \"b\": {\"nodes\": []}}}";
    let mut count = 0;
    let budget = budget();
    let mut receive = |_| {
        count += 1;
        Err(ParseError::Stopped)
    };
    let mut sink = Sink::new(&budget, &mut receive);
    let stopped =
        read(Input::text(text.as_bytes(), &budget, Expected::LuckPerms).unwrap(), NOW, &Findings::default(), &mut sink);
    assert_eq!((stopped, count), (Err(ParseError::Stopped), 1));
}

#[test]
fn a_node_that_is_temporary_and_permanent_in_one_place_is_two() {
    for context in ["{}", "{\"server\": \"a\"}", "{\"world\": \"a\"}", "{\"server\": \"a\", \"world\": \"b\"}"] {
        let permanent = format!("{{\"key\": \"x\", \"value\": false, \"context\": {context}}}");
        let temporary = format!("{{\"key\": \"x\", \"value\": true, \"expiry\": 2000, \"context\": {context}}}");
        for nodes in [format!("{permanent},{temporary}"), format!("{temporary},{permanent}")] {
            let nodes = group(&nodes).nodes;
            assert_eq!(nodes.iter().map(|node| node.expires_at.is_some()).filter(|it| *it).count(), 1, "{context}");
            assert_eq!(nodes.len(), 2, "{context}");
            let places = |node: &crate::permissions::Node| node.contexts_for_tests();
            assert_eq!(places(&nodes[0]), places(&nodes[1]), "{context}");
        }
    }
}

#[test]
fn the_heaviest_weight_counts_and_texts_lose_their_escapes() {
    let group = group(
        r#"{"key": "weight.5", "value": true}, {"key": "Weight.50", "value": true, "context": {"server": "x"}},
           {"key": "prefix.1.low", "value": true}, {"key": "prefix.9.a\\.b\\-c", "value": true},
           {"key": "prefix.99.bound", "value": true, "context": {"world": "x"}}, {"key": "displayname.The A", "value": true}"#,
    );
    assert_eq!(
        (group.priority, group.chat_prefix.as_deref(), group.display_name.as_deref()),
        (50, Some("a.b-c"), Some("The A"))
    );
    assert_eq!(group.nodes.len(), 6);
}

#[test]
fn of_prefixes_of_one_priority_the_first_counts_and_temporary_ones_do_not() {
    let prefix = |key: &str| format!("{{\"key\": \"{key}\", \"value\": true}}");
    for (one, other) in [("prefix.5.&b", "prefix.5.&a"), ("prefix.5.&a", "prefix.5.&b")] {
        let nodes = format!("{},{},{}", prefix(one), prefix(other), prefix("prefix.1.low"));
        assert_eq!(group(&nodes).chat_prefix.as_deref(), Some("&a"), "{one} {other}");
    }
    let temporary = r#"{"key": "prefix.9.sale", "value": true, "expiry": 2000}, {"key": "prefix.1.low", "value": true},
        {"key": "displayname.Sale", "value": true, "expiry": 2000}"#;
    let group = group(temporary);
    assert_eq!((group.chat_prefix.as_deref(), group.display_name), (Some("low"), None));
    assert_eq!(group.nodes.len(), 3, "they stay nodes");
}

#[test]
fn a_literal_node_counts_before_shorthand_only_where_it_applies() {
    let of = |nodes: &str| {
        let nodes = group(nodes).nodes.into_iter().filter(|node| node.node.as_str() == "t.a");
        let mut told: Vec<_> = nodes
            .map(|node| {
                let context = node.context.as_ref().map_or("", |context| context.as_str());
                let world = node.world.as_ref().map_or("", |world| world.as_str());
                format!("{context}/{world}={}", node.value)
            })
            .collect();
        told.sort();
        told.join(" ")
    };
    let literal = |context: &str| format!("{{\"key\": \"t.a\", \"value\": false, \"context\": {context}}}");
    let shorthand = |context: &str| format!("{{\"key\": \"t.{{a,b}}\", \"value\": true, \"context\": {context}}}");
    let (end, server) = ("{\"world\": \"end\"}", "{\"server\": \"s\"}");
    for (of_shorthand, of_literal, expected) in [
        ("{}", "{}", "/=false"),
        ("{}", end, "/=true /end=false"),
        (end, "{}", "/=false"),
        (server, end, "/end=false server=s/=true server=s/end=false"),
        ("{\"world\": \"a\"}", "{\"world\": \"b\"}", "/a=true /b=false"),
    ] {
        let nodes = format!("{}, {}", shorthand(of_shorthand), literal(of_literal));
        assert_eq!(of(&nodes), expected, "{nodes}");
    }
}

#[test]
fn what_the_hub_cannot_say_is_noted() {
    let long = "x".repeat(256);
    let nodes = format!(
        r#"{{"key": "r=a", "value": true}}, {{"key": "{long}", "value": true}}, {{"key": "a", "value": true, "expiry": 999}},
           {{"key": "b", "value": true, "context": {{"server": "x,y"}}}}, {{"key": "c", "value": true, "context": {{"k": "{long}"}}}}"#
    );
    let items = read_all(
        format!("{{\"users\": {{\"069a79f4-44e9-4726-a5be-fca90e38aaf5\": {{\"nodes\": [{nodes}]}}}}}}").as_bytes(),
    );
    let items = items.unwrap();
    assert_eq!(items[0].notes.len(), 5, "{:?}", items[0].notes);
    assert!(matches!(&items[0].record, Record::Player { nodes, .. } if nodes.is_empty()));
}

#[test]
fn keys_that_are_there_twice_are_told() {
    let refused = |text: &str| match read_all(text.as_bytes()) {
        Err(ParseError::Wrong { message, .. }) => message,
        other => panic!("{text}: {other:?}"),
    };
    for (text, part) in [
        (r#"{"groups": {"g": {"nodes": [{"key": "a", "value": true}], "nodes": []}}}"#, "duplicate field `nodes`"),
        (r#"{"groups": {"g": {"nodes": []}}, "groups": {}}"#, "`groups` twice"),
        (
            r#"{"groups": {"g": {"nodes": [{"key": "a", "value": true, "context": {"server": "a", "server": "b"}}]}}}"#,
            "context `server` twice",
        ),
        (r#"{"groups": {}, "tracks": {}, "users": {}}"#, "no groups, tracks or users"),
        (r#"{"groups": {" ": {"nodes": []}}}"#, "None of its 1 groups"),
        (r#"{"groups": {"g": {"nodes": [null]}}}"#, "expected a node"),
    ] {
        let message = refused(text);
        assert!(message.contains(part), "{text}: {message}");
    }
    let user = "069a79f4-44e9-4726-a5be-fca90e38aaf5";
    let text = format!(
        r#"{{"groups": {{"g": {{"nodes": []}}, "h": {{"nodes": []}}, "G": {{"nodes": []}}}},
            "users": {{"{user}": {{"nodes": []}}, "{}": {{"nodes": []}}}}}}"#,
        user.to_uppercase()
    );
    let notes: Vec<_> = read_all(text.as_bytes()).unwrap().into_iter().map(|item| item.notes).collect();
    assert!(notes[..2].iter().all(Vec::is_empty) && notes[3].is_empty(), "{notes:?}");
    assert!(notes[2][0].reason.contains("name twice") && notes[4][0].reason.contains("user twice"), "{notes:?}");
}

#[test]
fn an_expiry_in_another_unit_is_none_for_ever() {
    let text = r#"{"groups": {"g": {"nodes": [{"key": "a", "value": true, "expiry": 1700000000000},
        {"key": "b", "value": true, "expiry": 9223372036854775807}, {"key": "c", "value": true, "expiry": 2000}]}}}"#;
    let items = read_all(text.as_bytes()).unwrap();
    assert_eq!(items[0].notes[0].reason, "`expiry` is no time in seconds: `1700000000000`.");
    assert_eq!(items[0].notes.len(), 2, "{:?}", items[0].notes);
    assert!(matches!(&items[0].record, Record::Group(group) if group.nodes.len() == 1));
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = read_all(&bytes);
    }

    #[test]
    fn no_key_makes_it_panic(key in "[a-z{}()|,.*'=\\\\\\-1-9äé]{0,20}", context in "[a-z=, ]{0,8}") {
        let node = serde_json::json!({"key": key, "value": true, "context": {context.clone(): [context, "x"]}});
        let text = serde_json::json!({"groups": {"g": {"nodes": [node, {"key": key, "value": true}]}}}).to_string();
        let _ = read_all(text.as_bytes());
    }
}
