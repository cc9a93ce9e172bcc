//! Groups, players' nodes, and effective permissions.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Client, NOW, on_both};

const STEVE: &str = "069a79f4-44e9-4726-a5be-fca90e38aaf5";
const ALEX: &str = "61699b2e-d327-4a01-9f1e-0ea8c3f06bc6";
const GROUPS: &str = "/api/plugin/permissions/groups";

fn of(player: &str) -> String {
    format!("/api/plugin/permissions/users/{player}/permissions")
}

fn node(name: &str, value: bool) -> Value {
    json!({"node": name, "value": value, "context": null, "world": null, "expiresAt": null})
}

async fn give(client: &Client, player: &str, node: Value) {
    client.post(&of(player), node).await.expect(204);
}

async fn put(client: &Client, id: &str, priority: i64, nodes: Value) {
    client.put(&format!("{GROUPS}/{id}"), json!({"priority": priority, "permissions": nodes})).await.expect(204);
}

async fn effective(client: &Client, player: &str, query: &str) -> Value {
    client.get(&format!("/api/plugin/permissions/users/{player}/effective{query}")).await.expect(200).clone()
}

async fn refuse(client: &Client, path: &str, body: &Value, hint: &str) {
    let answer = if path.starts_with(GROUPS) {
        client.put(path, body.clone()).await
    } else {
        client.post(path, body.clone()).await
    };
    answer.expect_error(400, "invalid_request");
    assert!(answer.body["error"].as_str().unwrap().contains(hint), "{path} {body}: {}", answer.body);
}

on_both! {
    async fn a_group_is_put_read_replaced_and_deleted(hub: Hub) {
        let client = hub.network().await;
        assert_eq!(client.get(GROUPS).await.expect(200), &json!([]));
        let vip = json!({
            "groupId": "another", "displayName": "VIP", "priority": 10, "chatPrefix": "[VIP]",
            "chatPrefixColor": "gold", "chatNameColor": "yellow", "unknown": {},
            "permissions": [
                {"node": "fly", "value": true, "context": "server=lobby", "world": "nether", "expiresAt": NOW + 1_000},
                {"node": "Kit.VIP", "value": false, "context": "", "world": null},
                {"node": "home"},
            ],
        });
        client.put(&format!("{GROUPS}/vip"), vip).await.expect(204);
        let stored = json!({
            "groupId": "vip", "displayName": "VIP", "priority": 10, "chatPrefix": "[VIP]", "chatPrefixColor": "gold",
            "chatNameColor": "yellow",
            "permissions": [
                node("Kit.VIP", false),
                {"node": "fly", "value": true, "context": "server=lobby", "world": "nether", "expiresAt": NOW + 1_000},
                node("home", true),
            ],
        });
        assert_eq!(client.get(&format!("{GROUPS}/vip")).await.expect(200), &stored);
        assert_eq!(client.get(GROUPS).await.expect(200), &json!([stored]));
        // A node is not listed from the moment it expires.
        hub.advance_ms(1_000);
        let listed = client.get(GROUPS).await.expect(200)[0]["permissions"].clone();
        assert_eq!(listed, json!([node("Kit.VIP", false), node("home", true)]));
        // The whole group is replaced; of the same node twice the last counts.
        put(&client, "vip", 0, json!([node("a", true), node("a", false)])).await;
        let bare = json!({
            "groupId": "vip", "displayName": null, "priority": 0, "chatPrefix": null, "chatPrefixColor": null,
            "chatNameColor": null, "permissions": [node("a", false)],
        });
        assert_eq!(client.get(&format!("{GROUPS}/vip")).await.expect(200), &bare);
        client.delete(&format!("{GROUPS}/vip")).await.expect(204);
        client.delete(&format!("{GROUPS}/vip")).await.expect_error(404, "unknown_group");
        client.get(&format!("{GROUPS}/vip")).await.expect_error(404, "unknown_group");
    }

    async fn a_change_from_a_stale_revision_is_refused(hub: Hub) {
        let client = hub.network().await;
        let vip = format!("{GROUPS}/vip");
        let put_from = async |revision: &str, priority: i64| {
            let request = client.request(Method::PUT, &vip).header("If-Match", revision);
            client.send(request.json(&json!({"priority": priority}))).await
        };
        // There is nothing that a change could have been made from.
        put_from("1", 1).await.expect_error(404, "unknown_group");
        let first = client.put(&vip, json!({"priority": 1})).await;
        let first = first.headers["etag"].to_str().unwrap().to_owned();
        let read = client.get(&vip).await;
        assert_eq!(read.headers["etag"].to_str().unwrap(), first);
        // What others change has no effect on it.
        put(&client, "other", 5, json!([])).await;
        give(&client, STEVE, json!({"node": "a"})).await;
        let second = put_from(&first, 2).await;
        second.expect(204);
        let second = second.headers["etag"].to_str().unwrap().to_owned();
        let stale = put_from(&first, 3).await;
        assert_eq!(stale.expect(409)["code"], "revision_changed");
        let changed = &stale.body["changed"];
        assert_eq!((&changed["now"]["groupId"], &changed["now"]["priority"]), (&json!("vip"), &json!(2)));
        assert_eq!(format!("\"{}\"", changed["revision"]), second);
        let delete = async |revision: &str| client.send(client.request(Method::DELETE, &vip).header("If-Match", revision)).await;
        assert_eq!(delete(&first).await.expect(409)["code"], "revision_changed");
        assert_eq!(client.get(&vip).await.expect(200)["priority"], 2);
        // Of two at once one is made.
        let (one, two) = tokio::join!(put_from(&second, 3), put_from(&second, 4));
        let mut statuses = [one.status, two.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [204, 409]);
        put_from("*", 6).await.expect(204);
        put_from("seven", 7).await.expect_error(400, "invalid_request");
        let current = client.get(&vip).await.headers["etag"].to_str().unwrap().to_owned();
        delete(&current).await.expect(204);
        delete(&current).await.expect_error(404, "unknown_group");
    }

    async fn groups_are_listed_by_priority_then_id_and_named_exactly(hub: Hub) {
        let client = hub.network().await;
        for (id, priority) in [("b", 1), ("a", 1), ("VIP", 0), ("vip", 0), ("top%2Fadmin", 9), ("low", -5)] {
            put(&client, id, priority, json!([])).await;
        }
        let groups = client.get(GROUPS).await.expect(200).clone();
        let ids: Vec<_> = groups.as_array().unwrap().iter().map(|group| group["groupId"].as_str().unwrap()).collect();
        assert_eq!(ids, ["top/admin", "a", "b", "VIP", "vip", "low"]);
        client.delete(&format!("{GROUPS}/Vip")).await.expect_error(404, "unknown_group");
        client.get(&format!("{GROUPS}/top%2Fadmin")).await.expect(200);
    }

    async fn a_players_nodes_are_added_replaced_and_removed(hub: Hub) {
        let client = hub.network().await;
        assert_eq!(client.get(&of(STEVE)).await.expect(200), &json!([]));
        give(&client, STEVE, json!({"node": "fly"})).await;
        give(&client, STEVE, json!({"node": "fly", "context": "server=lobby", "value": false})).await;
        give(&client, STEVE, json!({"node": "fly", "world": "nether", "expiresAt": NOW + 5})).await;
        give(&client, "069A79F444E94726A5BEFCA90E38AAF5", json!({"node": "Fly", "value": null})).await;
        let bound = json!({"node": "fly", "value": false, "context": "server=lobby", "world": null, "expiresAt": null});
        let ends = json!({"node": "fly", "value": true, "context": null, "world": "nether", "expiresAt": NOW + 5});
        let all = json!([node("Fly", true), node("fly", true), ends, bound]);
        assert_eq!(client.get(&of(STEVE)).await.expect(200), &all);
        assert_eq!(client.get(&of(ALEX)).await.expect(200), &json!([]));
        // Added again: another value and expiry.
        give(&client, STEVE, json!({"node": "fly", "value": false, "expiresAt": NOW + 9})).await;
        hub.advance_ms(5);
        let changed = json!({"node": "fly", "value": false, "context": null, "world": null, "expiresAt": NOW + 9});
        assert_eq!(client.get(&of(STEVE)).await.expect(200), &json!([node("Fly", true), changed, bound]));
        // Removed by name, context and world alone; twice is no error.
        for _ in 0..2 {
            let body = json!({"node": "fly", "value": true, "context": "server=lobby", "expiresAt": 7});
            client.post(&(of(STEVE) + "/remove"), body).await.expect(204);
        }
        assert_eq!(client.get(&of(STEVE)).await.expect(200), &json!([node("Fly", true), changed]));
        // One that has expired already replaces the earlier one and is never listed.
        give(&client, STEVE, json!({"node": "Fly", "expiresAt": 1})).await;
        assert_eq!(client.get(&of(STEVE)).await.expect(200), &json!([changed]));
    }

    async fn invalid_nodes_and_groups_are_refused(hub: Hub) {
        let client = hub.network().await;
        let (nodes, group) = (of(STEVE), format!("{GROUPS}/vip"));
        for (wrong, hint) in [
            (json!({}), "missing field `node`"),
            (json!({"node": " "}), "blank"),
            (json!({"node": "x".repeat(256)}), "255"),
            (json!({"node": "a", "value": "yes"}), "value`"),
            (json!({"node": "a", "context": "server="}), "context`"),
            (json!({"node": "a", "context": 5}), "context`"),
            (json!({"node": "a", "world": "x".repeat(256)}), "world`"),
            (json!({"node": "a", "expiresAt": 0}), "expiresAt`"),
            (json!({"node": "a", "expiresAt": "soon"}), "expiresAt`"),
        ] {
            refuse(&client, &nodes, &wrong, hint).await;
            refuse(&client, &(nodes.clone() + "/remove"), &wrong, hint).await;
            refuse(&client, &group, &json!({"permissions": [node("a", true), wrong]}), hint).await;
        }
        refuse(&client, &group, &json!({"priority": 1.5}), "`priority`").await;
        refuse(&client, &group, &json!({"groupId": 5}), "`groupId`").await;
        refuse(&client, &group, &json!({"displayName": "x".repeat(256)}), "`displayName`").await;
        refuse(&client, &format!("{GROUPS}/%20"), &json!({}), "blank").await;
        refuse(&client, &of("steve"), &json!({"node": "a"}), "UUID").await;
        client.get(&of("steve")).await.expect_error(400, "invalid_request");
        client.get(&format!("{GROUPS}/vip")).await.expect_error(404, "unknown_group");
        let many: Vec<_> = (0..2_001).map(|at| json!({"node": format!("n{at}")})).collect();
        client.put(&group, json!({"permissions": many})).await.expect_quota("nodesPerGroup", 2_000);
        put(&client, "vip", 0, json!(many[..2_000])).await;
    }

    async fn groups_contexts_wildcards_and_expiry_are_resolved(hub: Hub) {
        let client = hub.network().await;
        put(&client, "default", 0, json!([node("spawn", true), node("build", false)])).await;
        put(&client, "member", 1, json!([node("group.default", true), node("build", true), node("kit.*", true)])).await;
        put(&client, "vip", 5, json!([
            node("group.member", true), {"node": "fly", "context": "server=lobby"}, node("kit.admin", false),
        ])).await;
        give(&client, STEVE, json!({"node": "group.vip", "expiresAt": NOW + 100})).await;
        give(&client, STEVE, json!({"node": "chat.color", "world": "nether"})).await;
        let asked = "&node=fly,build,kit.start,kit.admin,spawn,chat.color,nothing";
        let found = effective(&client, STEVE, &format!("?context=server=lobby&world=NETHER{asked}")).await;
        assert_eq!(found, json!({
            "playerUuid": STEVE, "revision": 5, "validUntil": NOW + 100, "groups": ["vip", "member", "default"],
            "permissions": {
                "fly": true, "build": true, "kit.start": true, "kit.admin": false, "spawn": true, "chat.color": true,
                "nothing": null,
            },
        }));
        let elsewhere = effective(&client, STEVE, &format!("?context=hub{asked}")).await;
        assert_eq!((&elsewhere["permissions"]["fly"], &elsewhere["permissions"]["chat.color"]), (&json!(null), &json!(null)));
        let why = effective(&client, STEVE, "?node=BUILD,kit.start,x&explain=true").await;
        assert_eq!(why["permissions"], json!({"BUILD": true, "kit.start": true, "x": null}));
        assert_eq!(why["explanation"], json!([
            {"node": "BUILD", "value": true, "decidedBy": node("build", true), "group": "member",
             "through": ["vip", "member"]},
            {"node": "kit.start", "value": true, "decidedBy": node("kit.*", true), "group": "member",
             "through": ["vip", "member"]},
            {"node": "x", "value": null, "decidedBy": null, "group": null, "through": []},
        ]));
        // The membership has expired: only the default group is left.
        hub.advance_ms(100);
        assert_eq!(effective(&client, STEVE, "").await, json!({
            "playerUuid": STEVE, "revision": 5, "validUntil": null, "groups": ["default"], "permissions": {"build": false, "spawn": true},
        }));
        let own = effective(&client, STEVE, "?world=nether&explain=true").await;
        assert_eq!(own["explanation"][1], json!({
            "node": "chat.color", "value": true, "group": null, "through": [],
            "decidedBy": {"node": "chat.color", "value": true, "context": null, "world": "nether", "expiresAt": null},
        }));
        // Every change takes effect at once.
        put(&client, "default", 0, json!([])).await;
        assert_eq!(effective(&client, ALEX, "?node=spawn").await["permissions"], json!({"spawn": null}));
        for query in ["?context=a%3D", "?explain=maybe", &format!("?node={}", "n,".repeat(101)), "?node=%00"] {
            let path = format!("/api/plugin/permissions/users/{STEVE}/effective{query}");
            client.get(&path).await.expect_error(400, "invalid_request");
        }
    }

    async fn another_network_has_its_own_groups_and_nodes(hub: Hub) {
        let (ours, theirs) = (hub.network().await, hub.network().await);
        put(&theirs, "default", 0, json!([node("spawn", true)])).await;
        give(&theirs, STEVE, json!({"node": "fly"})).await;
        assert_eq!(ours.get(GROUPS).await.expect(200), &json!([]));
        assert_eq!(ours.get(&of(STEVE)).await.expect(200), &json!([]));
        assert_eq!(effective(&ours, STEVE, "").await["permissions"], json!({}));
        ours.get(&format!("{GROUPS}/default")).await.expect_error(404, "unknown_group");
        ours.delete(&format!("{GROUPS}/default")).await.expect_error(404, "unknown_group");
        ours.post(&(of(STEVE) + "/remove"), json!({"node": "fly"})).await.expect(204);
        put(&ours, "default", 0, json!([])).await;
        assert_eq!(effective(&theirs, STEVE, "").await["permissions"], json!({"fly": true, "spawn": true}));
    }

    async fn concurrent_puts_leave_one_whole_group(hub: Hub) {
        let client = hub.network().await;
        let puts = (0..20).map(|at| {
            let client = client.clone();
            tokio::spawn(async move {
                put(&client, "vip", at, json!([node(&format!("a{at}"), true), node(&format!("b{at}"), true)])).await;
                give(&client, STEVE, json!({"node": "fly", "value": at % 2 == 0})).await;
            })
        });
        for put in puts.collect::<Vec<_>>() {
            put.await.unwrap();
        }
        let group = client.get(&format!("{GROUPS}/vip")).await.expect(200).clone();
        let at = group["priority"].as_i64().unwrap();
        assert_eq!(group["permissions"], json!([node(&format!("a{at}"), true), node(&format!("b{at}"), true)]));
        assert_eq!(client.get(&of(STEVE)).await.expect(200).as_array().unwrap().len(), 1);
    }
}
