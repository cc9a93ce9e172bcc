//! LuckPerms' export, with the same check results as in LuckPerms.
//!
//! The expected answers follow from its documented rules: own nodes before inherited ones; groups by weight, depth first;
//! nodes with a server before those with a world before those with more contexts; temporary before permanent; exact nodes before
//! wildcards, longer wildcards before shorter ones. Owner, Mia and Noah are from tests of LuckPerms itself (`InheritanceTest`,
//! `PermissionCalculatorTest`, `PermissionProcessorTest`).

use std::time::Duration;

use serde_json::{Value, json};

use super::{counts, files, has_note, import, notes};
use crate::support::{Client, NOW, on_both};

const HOUR: i64 = 3_600_000;

fn uuid(name: &str) -> String {
    let digit = name.bytes().fold(0_u64, |hash, byte| (hash * 31 + u64::from(byte)) % 1_000_000_007);
    format!("069a79f4-44e9-4726-a5be-{digit:012}")
}

fn node(key: &str, value: bool) -> Value {
    let kind = if key.starts_with("group.") { "inheritance" } else { "permission" };
    json!({"type": kind, "key": key, "value": value})
}

fn within(node: Value, context: Value) -> Value {
    let mut node = node;
    node["context"] = context;
    node
}

fn until(node: Value, at: i64) -> Value {
    let mut node = node;
    node["expiry"] = json!(at / 1_000);
    node
}

fn groups() -> Value {
    let lobby = || json!({"server": "lobby"});
    json!({
        "admin": {"nodes": [node("weight.100", true), node("*", true), node("danger.*", false), node("danger.safe", true)]},
        "mod": {"nodes": [node("weight.20", true), node("group.member", true), node("fly", false), node("mod.*", true)]},
        "vip": {"nodes": [node("weight.5", true), node("weight.20", true), node("group.member", true),
            within(node("fly", true), lobby()), node("kit.admin", false), node("perk.{a,b}", true),
            {"type": "prefix", "key": "prefix.10.&6[VIP\\.]", "value": true},
            {"type": "display_name", "key": "displayname.VIP", "value": true}, node("r=secret\\..*", true)]},
        "member": {"nodes": [node("weight.10", true), node("group.default", true), node("build", true),
            node("kit.*", true), within(node("sleep", true), json!({"world": "overworld"}))]},
        "default": {"nodes": [node("spawn", true), node("build", false), node("chat.use", true)]},
        // The tree of LuckPerms' own InheritanceTest.
        "owner": {"nodes": [node("weight.13", true), node("group.admin2", true)]},
        "admin2": {"nodes": [node("weight.12", true), node("group.mod2", true)]},
        "mod2": {"nodes": [node("weight.11", true), node("group.helper", true)]},
        "helper": {"nodes": [node("weight.10", true), node("group.newbie", true)]},
        "newbie": {"nodes": []},
        "vip+": {"nodes": [node("weight.6", true), node("group.vip2", true)]},
        "vip2": {"nodes": [node("weight.5", true), node("group.newbie", true)]},
    })
}

fn export() -> Value {
    let lobby = || json!({"server": "lobby"});
    let crafted = || json!({"difficulty": "hard", "gamemode": "creative"});
    let users = [
        ("alice", vec![node("group.vip", true)]),
        (
            "bob",
            vec![
                node("group.member", true),
                node("fly", true),
                within(node("fly", false), json!({"world": "nether"})),
                within(node("fly", true), lobby()),
                within(node("fly", false), json!({"server": "lobby", "world": "nether"})),
                within(node("speed", true), crafted()),
                within(node("speed", false), lobby()),
                within(node("jump", true), json!({"world": "nether"})),
                within(node("jump", false), crafted()),
                within(node("glow", true), json!({"server": ["hub", "lobby"]})),
                within(node("warp", true), json!({"world": ["end", "nether"]})),
                within(node("swim", true), json!({"server": "global"})),
                within(node("dig", true), json!({"server": "lobby", "world": "global"})),
            ],
        ),
        (
            "carol",
            vec![
                node("tmp", false),
                until(node("tmp", true), NOW + HOUR),
                until(node("old", true), NOW - HOUR),
                until(node("t2", true), NOW + HOUR),
                within(node("t2", false), lobby()),
                until(node("group.vip", true), NOW + HOUR),
                within(node("t3", false), lobby()),
                until(within(node("t3", true), lobby()), NOW + HOUR),
            ],
        ),
        ("dave", vec![node("group.admin", true), node("a.b.*", true), node("a.*", false)]),
        ("erin", vec![node("group.mod", true), node("group.vip", true)]),
        ("frank", vec![node("group.mod", true), within(node("group.vip", true), lobby())]),
        ("gina", vec![node("group.admin", true), node("group.member", true), node("group.vip", false)]),
        ("ivan", vec![]),
        ("judy", vec![node("'*'", true), node("x", false), node("r=foo\\d+", true)]),
        ("kate", vec![node("group.owner", true), node("group.vip+", true)]),
        (
            "liam",
            vec![
                node("group.MEMBER", true),
                node("Home.Set", true),
                node("essentials.{fly,god}", true),
                node("kit.(1-3)", false),
            ],
        ),
        (
            "mia",
            vec![
                node("test.node1", true),
                node("test.node2", false),
                node("one.two.three.four", true),
                node("one.two.three.*", false),
                node("one.two.three", true),
                node("one.two.*", false),
                node("one.two", true),
                node("one.*", false),
                node("one", true),
                node("*", false),
            ],
        ),
        ("noah", vec![node("one.two.*", true), node("one.*", false), node("*", true)]),
        (
            "olga",
            vec![
                within(node("a", true), json!({"gamemode": "creative"})),
                within(node("a", false), json!({"difficulty": "hard"})),
                within(node("b", true), json!({"gamemode": "creative"})),
                until(within(node("b", false), json!({"difficulty": "hard"})), NOW + HOUR),
                until(node("c", true), NOW + HOUR),
                until(node("d", false), NOW + HOUR),
                within(node("d", true), json!({"world": "nether"})),
                until(within(node("d", false), json!({"gamemode": ["creative", "survival"]})), NOW + HOUR),
            ],
        ),
    ];
    let users: serde_json::Map<_, _> =
        users.into_iter().map(|(name, nodes)| (uuid(name), json!({"username": name, "nodes": nodes}))).collect();
    json!({
        "metadata": {"generatedBy": "console@lobby", "generatedAt": "2027-03-10 12:00:00 UTC"},
        "groups": groups(),
        "tracks": {"ranks": {"groups": ["default", "member", "vip"]}},
        "users": users,
    })
}

/// Player, context, world, node, and LuckPerms' answer.
type Case = (&'static str, &'static str, &'static str, &'static str, Option<bool>);

const CASES: &[Case] = &[
    // Inheritance, negation, wildcards.
    ("alice", "", "", "spawn", Some(true)),
    ("alice", "", "", "build", Some(true)),
    ("alice", "", "", "kit.start", Some(true)),
    ("alice", "", "", "kit.admin", Some(false)),
    ("alice", "", "", "kit", None),
    ("alice", "", "", "fly", None),
    ("alice", "server=lobby", "", "fly", Some(true)),
    ("alice", "server=hub", "", "fly", None),
    ("alice", "server=LOBBY", "", "FLY", Some(true)),
    ("alice", "", "", "perk.a", Some(true)),
    ("alice", "", "", "perk.b", Some(true)),
    ("alice", "", "", "perk.c", None),
    ("alice", "", "", "group.vip", Some(true)),
    ("alice", "", "", "group.member", Some(true)),
    ("alice", "", "", "group.default", Some(true)),
    ("alice", "", "", "group.mod", None),
    ("alice", "", "", "weight.20", Some(true)),
    ("alice", "", "", "chat.use", Some(true)),
    ("alice", "", "overworld", "sleep", Some(true)),
    ("alice", "", "nether", "sleep", None),
    // Contexts and worlds.
    ("bob", "", "", "fly", Some(true)),
    ("bob", "", "nether", "fly", Some(false)),
    ("bob", "server=lobby", "", "fly", Some(true)),
    ("bob", "server=lobby", "nether", "fly", Some(false)),
    ("bob", "server=lobby", "end", "fly", Some(true)),
    ("bob", "", "end", "fly", Some(true)),
    ("bob", "server=lobby,gamemode=creative,difficulty=hard", "", "speed", Some(false)),
    ("bob", "gamemode=creative,difficulty=hard", "", "speed", Some(true)),
    ("bob", "gamemode=creative", "", "speed", None),
    ("bob", "gamemode=creative,difficulty=hard", "nether", "jump", Some(true)),
    ("bob", "gamemode=creative,difficulty=hard", "end", "jump", Some(false)),
    ("bob", "server=lobby", "", "glow", Some(true)),
    ("bob", "server=hub", "", "glow", Some(true)),
    ("bob", "server=survival", "", "glow", None),
    ("bob", "", "nether", "warp", Some(true)),
    ("bob", "", "End", "warp", Some(true)),
    ("bob", "", "overworld", "warp", None),
    ("bob", "", "", "swim", Some(true)),
    ("bob", "server=lobby", "", "swim", Some(true)),
    ("bob", "server=lobby", "nether", "dig", Some(true)),
    ("bob", "", "nether", "dig", None),
    // Temporary nodes.
    ("carol", "", "", "tmp", Some(true)),
    ("carol", "", "", "old", None),
    ("carol", "server=lobby", "", "t2", Some(false)),
    ("carol", "", "", "t2", Some(true)),
    ("carol", "server=lobby", "", "t3", Some(true)),
    ("carol", "", "", "kit.admin", Some(false)),
    ("carol", "", "", "kit.other", Some(true)),
    // Wildcards.
    ("dave", "", "", "anything", Some(true)),
    ("dave", "", "", "danger.x", Some(false)),
    ("dave", "", "", "danger.x.y", Some(false)),
    ("dave", "", "", "danger.safe", Some(true)),
    ("dave", "", "", "danger", Some(true)),
    ("dave", "", "", "a.b.c", Some(true)),
    ("dave", "", "", "a.b.c.d", Some(true)),
    ("dave", "", "", "a.c", Some(false)),
    ("dave", "", "", "a.b", Some(false)),
    ("dave", "", "", "a", Some(true)),
    ("dave", "", "", "build", Some(true)),
    // Weights.
    ("erin", "server=lobby", "", "fly", Some(false)),
    ("erin", "", "", "mod.kick", Some(true)),
    ("erin", "", "", "kit.admin", Some(false)),
    ("frank", "server=lobby", "", "fly", Some(true)),
    ("frank", "server=hub", "", "fly", Some(false)),
    ("gina", "", "", "build", Some(true)),
    ("gina", "", "", "danger.x", Some(false)),
    ("gina", "", "", "other", Some(true)),
    ("gina", "", "", "group.vip", Some(false)),
    ("gina", "", "", "kit.admin", Some(true)),
    // The default group.
    ("ivan", "", "", "spawn", Some(true)),
    ("ivan", "", "", "build", Some(false)),
    ("nobody", "", "", "spawn", Some(true)),
    ("judy", "", "", "whatever", Some(true)),
    ("judy", "", "", "x", Some(false)),
    ("judy", "", "", "build", Some(false)),
    // Shorthand and case.
    ("liam", "", "", "essentials.fly", Some(true)),
    ("liam", "", "", "essentials.god", Some(true)),
    ("liam", "", "", "kit.(1-3)", Some(false)),
    ("liam", "", "", "kit.2", Some(false)),
    ("liam", "", "", "kit.4", Some(true)),
    ("liam", "", "", "home.set", Some(true)),
    ("liam", "", "", "spawn", Some(true)),
    // `PermissionCalculatorTest.testWildcard` and `testDirect`.
    ("mia", "", "", "test.node1", Some(true)),
    ("mia", "", "", "test.node2", Some(false)),
    ("mia", "", "", "one.two.three.four", Some(true)),
    ("mia", "", "", "one.two.three.test", Some(false)),
    ("mia", "", "", "one.two.three.*", Some(false)),
    ("mia", "", "", "one.two.three", Some(true)),
    ("mia", "", "", "one.two.test", Some(false)),
    ("mia", "", "", "one.two.*", Some(false)),
    ("mia", "", "", "one.two", Some(true)),
    ("mia", "", "", "one.test", Some(false)),
    ("mia", "", "", "one.*", Some(false)),
    ("mia", "", "", "one", Some(true)),
    ("mia", "", "", "test", Some(false)),
    ("mia", "", "", "*", Some(false)),
    // `PermissionProcessorTest.testWildcard`.
    ("noah", "", "", "one.two.three.four", Some(true)),
    ("noah", "", "", "one.two.test", Some(true)),
    ("noah", "", "", "one.two", Some(false)),
    ("noah", "", "", "one.test", Some(false)),
    ("noah", "", "", "one.*", Some(false)),
    ("noah", "", "", "one", Some(true)),
    ("noah", "", "", "test", Some(true)),
    ("noah", "", "", "*", Some(true)),
    // Equal numbers of contexts: the later name first (`ContextSetComparator`), whichever is temporary.
    ("olga", "gamemode=creative,difficulty=hard", "", "a", Some(true)),
    ("olga", "difficulty=hard", "", "a", Some(false)),
    ("olga", "gamemode=creative,difficulty=hard", "", "b", Some(true)),
    ("olga", "gamemode=survival,difficulty=hard", "", "b", Some(false)),
    ("olga", "", "", "c", Some(true)),
    ("olga", "gamemode=survival", "nether", "d", Some(true)),
    ("olga", "gamemode=survival", "end", "d", Some(false)),
];

/// Two hours later.
const LATER: &[Case] = &[
    ("carol", "", "", "tmp", Some(false)),
    ("olga", "", "", "c", None),
    ("olga", "gamemode=survival", "end", "d", None),
    ("carol", "", "", "t2", None),
    ("carol", "server=lobby", "", "t3", Some(false)),
    ("carol", "", "", "kit.admin", None),
    ("carol", "", "", "spawn", Some(true)),
    ("alice", "", "", "kit.admin", Some(false)),
];

async fn check(client: &Client, cases: &[Case]) {
    for (name, context, world, node, expected) in cases {
        let path = format!("/api/plugin/permissions/users/{}/effective", uuid(name));
        let query = [("context", *context), ("world", *world), ("node", *node)];
        let request = client.request(reqwest::Method::GET, &path).query(&query);
        let answer = client.send(request).await.expect(200).clone();
        assert_eq!(answer["permissions"][*node], json!(expected), "{name} {context:?} {world:?} {node}");
    }
}

async fn groups_of(client: &Client, name: &str) -> Value {
    let path = format!("/api/plugin/permissions/users/{}/effective", uuid(name));
    client.get(&path).await.expect(200)["groups"].clone()
}

on_both! {
    async fn checks_answer_like_luckperms(hub: Hub) {
        assert!(CASES.len() + LATER.len() >= 60);
        let owner = hub.network().await;
        // In LuckPerms' format: packed, on one line.
        let done = import(&owner, "kind=luckperms", files::gzip(export().to_string().as_bytes())).await;
        assert_eq!(done["state"], "DONE", "{done}");
        assert_eq!(counts(&done, "GROUPS"), [12, 0, 0, 0]);
        assert_eq!(counts(&done, "PLAYERS"), [13, 0, 1, 0], "one has no nodes");
        assert_eq!(counts(&done, "TRACKS"), [1, 0, 0, 0]);
        check(&owner, CASES).await;
        assert_eq!(groups_of(&owner, "kate").await, json!(["owner", "admin2", "mod2", "helper", "newbie", "vip+", "vip2"]));
        hub.clock.advance(Duration::from_hours(2));
        check(&owner, LATER).await;
    }

    async fn a_dry_run_predicts_the_import_and_a_second_import_changes_nothing(hub: Hub) {
        let owner = hub.network().await;
        let file = serde_json::to_string_pretty(&export()).unwrap();
        let dry = import(&owner, "kind=LUCKPERMS&dryRun=true", file.clone()).await;
        assert_eq!((dry["state"].as_str(), &dry["dryRun"]), (Some("DONE"), &json!(true)));
        assert_eq!(owner.get("/api/plugin/permissions/groups").await.expect(200), &json!([]), "nothing was written");
        for part in ["r=secret\\..*: The hub does not support regular expressions", "r=foo", "old: The node has expired", "track ranks"] {
            assert!(has_note(&dry, part), "{part}: {:?}", notes(&dry));
        }
        let line = file.lines().position(|line| line.contains("\"ranks\"")).unwrap() + 1;
        assert!(has_note(&dry, &format!("{line} track ranks")), "{:?}", notes(&dry));

        let first = import(&owner, "kind=luckperms", file.clone()).await;
        assert_eq!(first["report"], dry["report"]);
        let group = owner.get("/api/plugin/permissions/groups/vip").await.expect(200).clone();
        assert_eq!((&group["displayName"], &group["priority"], &group["chatPrefix"]), (&json!("VIP"), &json!(20), &json!("&6[VIP.]")));
        let alice = format!("/api/plugin/permissions/users/{}/effective", uuid("alice"));
        let before = owner.get(&alice).await.expect(200).clone();
        let second = import(&owner, "kind=luckperms", file).await;
        assert_eq!((counts(&second, "GROUPS"), counts(&second, "PLAYERS")), ([0, 0, 12, 0], [0, 0, 14, 0]));
        assert_eq!(owner.get(&alice).await.expect(200), &before, "the revision, too");
        assert_eq!(counts(&second, "TRACKS"), [0, 0, 1, 0]);
    }

    async fn tracks_become_config_documents(hub: Hub) {
        let owner = hub.network().await;
        let tracks = json!({"ranks": {"groups": ["Default", "member", "vip", "admin"]}, "Staff": {"groups": ["helper", "mod"]},
            "empty": {"groups": []}, "bad\u{1}name": {"groups": ["a"]}});
        let file = json!({"metadata": {}, "groups": groups(), "tracks": tracks, "users": {}});
        let mut events = owner.events(None, None).await;
        let dry = import(&owner, "kind=luckperms&dryRun=true", file.to_string()).await;
        owner.get("/api/plugin/config/luckperms-tracks/ranks").await.expect_error(404, "unknown_config");
        let done = import(&owner, "kind=luckperms", file.to_string()).await;
        assert_eq!((counts(&done, "TRACKS"), &done["report"]), ([3, 0, 0, 1], &dry["report"]), "{done}");
        for part in ["track ranks: Stored as the config document `ranks` of the group `luckperms-tracks`", "Invalid track name."] {
            assert!(has_note(&done, part), "{part}: {:?}", notes(&done));
        }
        let event = events.next_named("CONFIG_UPDATED").await.data;
        assert_eq!(event["group"], "luckperms-tracks");
        let track = async |name: &str| owner.get(&format!("/api/plugin/config/luckperms-tracks/{name}")).await.expect(200)["doc"].clone();
        assert_eq!(track("ranks").await, json!({"groups": ["default", "member", "vip", "admin"]}), "in their order");
        assert_eq!(track("staff").await, json!({"groups": ["helper", "mod"]}));
        assert_eq!(track("empty").await, json!({"groups": []}));
        let shorter = json!({"groups": {}, "tracks": {"ranks": {"groups": ["member"]}}, "users": {}});
        assert_eq!(counts(&import(&owner, "kind=luckperms", shorter.to_string()).await, "TRACKS"), [0, 1, 0, 0]);
        assert_eq!(track("ranks").await, json!({"groups": ["member"]}));
    }

    async fn existing_data_stays_and_the_file_wins_conflicts(hub: Hub) {
        let owner = hub.network().await;
        let vip = json!({"priority": 1, "chatNameColor": "red", "permissions": [{"node": "own", "value": true}, {"node": "fly", "value": false}]});
        owner.put("/api/plugin/permissions/groups/vip", vip).await.expect(204);
        let steve = format!("/api/plugin/permissions/users/{}/permissions", uuid("steve"));
        owner.post(&steve, json!({"node": "mine"})).await.expect(204);
        let file = json!({"groups": {"vip": {"nodes": [node("fly", true), node("weight.7", true)]}},
            "users": {uuid("steve"): {"nodes": [node("fly", true)]}}});
        let done = import(&owner, "kind=luckperms", file.to_string()).await;
        assert_eq!((counts(&done, "GROUPS"), counts(&done, "PLAYERS")), ([0, 1, 0, 0], [0, 1, 0, 0]));
        let group = owner.get("/api/plugin/permissions/groups/vip").await.expect(200).clone();
        assert_eq!((&group["priority"], &group["chatNameColor"]), (&json!(7), &json!("red")));
        let nodes = |nodes: &Value| -> Vec<(String, bool)> {
            let nodes = nodes.as_array().unwrap().iter();
            nodes.map(|node| (node["node"].as_str().unwrap().to_owned(), node["value"].as_bool().unwrap())).collect()
        };
        let named = |name: &str| (name.to_owned(), true);
        assert_eq!(nodes(&group["permissions"]), [named("fly"), named("own"), named("weight.7")]);
        assert_eq!(nodes(owner.get(&steve).await.expect(200)), [named("fly"), named("mine")]);
    }

    async fn where_the_hub_answers_otherwise_the_report_says_so(hub: Hub) {
        let owner = hub.network().await;
        let lobby = json!({"server": "lobby"});
        let file = json!({
            "groups": {
                "admin": {"nodes": [node("fly", true)]},
                "builder": {"nodes": [node("fly", true)]},
                "default": {"nodes": [node("fly", false), until(node("prefix.9.sale", true), NOW + HOUR), node("prefix.1.b", true), node("prefix.1.a", true)]},
            },
            "users": {
                // LuckPerms leaves `default` out as a primary group.
                uuid("one"): {"nodes": [node("group.admin", true), node("group.default", true)]},
                uuid("two"): {"nodes": [within(node("group.builder", true), lobby), node("group.default", true)]},
                uuid("three"): {"nodes": [node("group.default", true), node("group.vip", true)]},
                uuid("four"): {"nodes": [node("tool.{cut,copy}", true), within(node("tool.cut", false), json!({"world": "end"}))]},
            },
        });
        let done = import(&owner, "kind=luckperms", file.to_string()).await;
        for name in ["one", "two"] {
            assert!(has_note(&done, &format!("user {}: primary group default", uuid(name))), "{name}: {:?}", notes(&done));
        }
        assert!(!has_note(&done, &uuid("three")), "{:?}", notes(&done));
        for part in ["prefix.9.sale: It is temporary", "prefix.1.b: Another prefix has the same priority"] {
            assert!(has_note(&done, part), "{part}: {:?}", notes(&done));
        }
        assert_eq!(owner.get("/api/plugin/permissions/groups/default").await.expect(200)["chatPrefix"], "a");
        check(&owner, &[
            ("four", "", "", "tool.cut", Some(true)),
            ("four", "", "end", "tool.cut", Some(false)),
            ("four", "", "end", "tool.copy", Some(true)),
            ("four", "", "", "group.default", Some(true)),
            ("nobody", "", "", "group.default", Some(true)),
        ]).await;
    }

    async fn a_holder_with_too_many_nodes_is_skipped_and_reported(hub: Hub) {
        let owner = hub.network().await;
        let many: Vec<_> = (0..2_001).map(|at| node(&format!("n.{at}"), true)).collect();
        let file = json!({"groups": {"many": {"nodes": many}, "few": {"nodes": []}},
            "users": {uuid("steve"): {"nodes": many}, uuid("alex"): {"nodes": [node("a", true)]}}});
        let done = import(&owner, "kind=luckperms", file.to_string()).await;
        assert_eq!(done["state"], "DONE");
        assert_eq!((counts(&done, "GROUPS"), counts(&done, "PLAYERS")), ([1, 0, 0, 1], [1, 0, 0, 1]));
        assert!(has_note(&done, "group many: The limit `nodesPerGroup`"), "{:?}", notes(&done));
        assert!(has_note(&done, "The limit `nodesPerPlayer`"), "{:?}", notes(&done));
    }
}
