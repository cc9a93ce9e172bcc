//! Activations: all links of a module, changed together.

use hub_sandbox::manifest::embed;
use reqwest::Method;
use serde_json::{Value, json};

use super::cli::{fail, succeed};
use super::handlers::handler::{grants, handler, manifest};
use super::wasm::{component, module_of_worlds};
use super::{chain, point, upload};
use crate::support::{Answer, Client, on_both};

const ACTIVATION: &str = "/api/manage/modules/season/activation";

/// A module that handles events and ticks, and does nothing. `version` tells apart modules that do the same.
pub fn season(version: u32) -> Vec<u8> {
    let text = format!(
        r#"(module
            (memory (export "memory") 4)
            (global $free (mut i32) (i32.const 65536))
            (func (export "cabi_realloc") (param $old i32) (param $old_size i32) (param $align i32)
                (param $size i32) (result i32)
                (local $at i32)
                (local.set $at (i32.and (i32.add (global.get $free) (i32.const 7)) (i32.const -8)))
                (global.set $free (i32.add (local.get $at) (local.get $size)))
                (local.get $at))
            (data (i32.const 1024) "version {version}")
            (func (export "network-hub:module/events@1.1.0#handle") (param i32) (result i32) (i32.const 16))
            (func (export "network-hub:module/schedules@1.1.0#tick") (param i32) (result i32) (i32.const 16)))"#
    );
    let manifest = json!({"manifest": 1, "contract": "1.1.0", "name": "season", "scopes": ["economy:write"],
        "events": {"types": ["BALANCE_CHANGED"]}, "schedules": [{"name": "yearly", "cron": "0 0 1 1 *"}]});
    embed(component(&module_of_worlds(&["events-module", "schedules-module"], &text)), manifest.to_string().as_bytes())
}

fn scopes() -> Value {
    json!({"scopes": ["economy:write", "events:read"]})
}

async fn activate(owner: &Client, version: u32, points: Value) -> Answer {
    owner.put(ACTIVATION, json!({"version": version, "grants": scopes(), "points": points})).await
}

/// Points and versions of the links of `season`.
fn links(activation: &Value) -> Vec<(&str, i64)> {
    let all = activation["links"].as_array().unwrap().iter();
    all.map(|link| (link["point"].as_str().unwrap(), link["version"].as_i64().unwrap())).collect()
}

async fn now(owner: &Client) -> Value {
    owner.get(ACTIVATION).await.expect(200).clone()
}

fn names(point: &Value) -> Vec<&str> {
    point["modules"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect()
}

/// A network with two versions of `season`, and another handler.
async fn prepare(owner: &Client) {
    for version in [1, 2] {
        upload(owner, "season", season(version)).await.expect(201);
    }
    upload(owner, "counter", handler(1, &manifest("PLAYER", &["BALANCE_CHANGED"]))).await.expect(201);
    let counter = json!([{"name": "counter", "version": 1, "grants": grants()}]);
    chain(owner, "events", counter).await.expect(200);
}

/// The links' revision.
async fn revision(owner: &Client) -> String {
    owner.get(ACTIVATION).await.headers["etag"].to_str().unwrap().to_owned()
}

on_both! {
    async fn an_activation_is_changed_only_at_its_revision(hub: Hub) {
        let owner = hub.network().await;
        prepare(&owner).await;
        let at = |method: Method, path: &str, revision: &str| owner.request(method, path).header("If-Match", revision);
        let put = async |version: i64, points: Value, revision: &str| {
            let body = json!({"version": version, "grants": scopes(), "points": points});
            owner.send(at(Method::PUT, ACTIVATION, revision).json(&body)).await
        };
        let (both, events) = (json!({"events": {}, "schedules": {}}), json!({"events": {}}));
        assert_eq!(revision(&owner).await, "\"0\"");
        put(1, both.clone(), "\"0\"").await.expect(200);
        let first = revision(&owner).await;
        // Another module in the same chain is no change of this one.
        owner.delete("/api/manage/modules/counter/activation").await.expect(204);
        assert_eq!(revision(&owner).await, first);
        let refused = put(2, events.clone(), "\"0\"").await.expect(409).clone();
        assert_eq!(refused["code"], "revision_changed");
        let changed = &refused["changed"];
        assert_eq!((&changed["expected"], format!("\"{}\"", changed["revision"])), (&json!(0), first.clone()));
        assert_eq!(changed["now"]["schedules"][0]["version"], 1);
        let put_at_first = put(2, events.clone(), &first).await;
        put_at_first.expect(200);
        let second = revision(&owner).await;
        assert_eq!(put_at_first.headers["etag"].to_str().unwrap(), second);
        let rollback = format!("{ACTIVATION}/rollback");
        owner.send(at(Method::POST, &rollback, &first)).await.expect(409);
        owner.send(at(Method::DELETE, ACTIVATION, &first)).await.expect(409);
        assert_eq!(links(&now(&owner).await), [("events", 2)]);
        owner.send(at(Method::POST, &rollback, &second)).await.expect(200);
        assert_eq!(links(&now(&owner).await), [("events", 1), ("schedules", 1)]);
        let third = revision(&owner).await;
        owner.send(at(Method::DELETE, ACTIVATION, &third)).await.expect(204);
        // Without the header it is any.
        activate(&owner, 1, both).await.expect(200);
        assert_eq!(now(&owner).await["links"].as_array().unwrap().len(), 2);
    }

    async fn all_links_of_a_module_change_together_or_not_at_all(hub: Hub) {
        let owner = hub.network().await;
        prepare(&owner).await;
        let both = json!({"events": {}, "schedules": {}});
        let made = activate(&owner, 1, both.clone()).await.expect(200).clone();
        assert_eq!(links(&made), [("events", 1), ("schedules", 1)]);
        assert_eq!((&made["links"][0]["activation"], &made["warnings"]), (&json!(true), &json!([])));
        assert!(made["links"][0]["delivered"].is_i64() && made["links"][0]["grantedBy"]["id"].is_string(), "{made}");
        assert_eq!(names(&point(&owner, "events").await), ["counter", "season"]);

        // A failure at one point changes none.
        activate(&owner, 9, both.clone()).await.expect_error(400, "unknown_module");
        let no_chat = json!({"events": {}, "schedules": {}, "chat": {}});
        activate(&owner, 2, no_chat).await.expect_error(400, "point_not_offered");
        activate(&owner, 2, json!({"weather": {}})).await.expect_error(404, "unknown_point");
        let bare = json!({"version": 2, "points": both});
        let needed = owner.put(ACTIVATION, bare).await.expect(400).clone();
        assert_eq!((&needed["code"], &needed["needed"]["scopes"]), (&json!("grant_needed"), &scopes()["scopes"]));
        let robot = owner.key_with(&["modules:write"]).await;
        activate(&robot, 2, both.clone()).await.expect_error(403, "forbidden_scope");
        let early = json!({"version": 2, "grants": scopes(), "from": "NOW", "points": {"schedules": {}}});
        owner.put(ACTIVATION, early).await.expect_error(400, "invalid_request");
        assert_eq!(links(&now(&owner).await), [("events", 1), ("schedules", 1)]);

        // It keeps its place.
        let counter = json!({"name": "counter", "version": 1, "grants": grants()});
        let own = json!({"name": "season", "version": 1, "grants": scopes()});
        chain(&owner, "events", json!([own, counter])).await.expect(200);
        let made = activate(&owner, 2, both).await.expect(200).clone();
        assert_eq!(links(&made), [("events", 2), ("schedules", 2)]);
        let events = point(&owner, "events").await;
        assert_eq!((names(&events), &events["modules"][0]["version"]), (vec!["season", "counter"], &json!(2)));
        // A point that is not named loses it.
        let made = activate(&owner, 2, json!({"schedules": {}})).await.expect(200).clone();
        assert_eq!(links(&made), [("schedules", 2)]);
        let events = point(&owner, "events").await;
        assert_eq!((names(&events), &events["kept"][0]["name"]), (vec!["counter"], &json!("season")));
    }

    async fn a_change_of_one_chain_parts_no_activation(hub: Hub) {
        let owner = hub.network().await;
        prepare(&owner).await;
        activate(&owner, 1, json!({"events": {}, "schedules": {}})).await.expect(200);
        let with = |version: u32, more: Value| {
            let mut link = json!({"name": "season", "version": version, "grants": scopes()});
            link.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            json!([link])
        };
        let more = json!({"scopes": ["economy:write", "events:read", "players:write"]});
        for parted in [with(2, json!({})), with(1, json!({"config": {"a": 1}})), with(1, json!({"grants": more})), json!([])] {
            chain(&owner, "events", parted).await.expect_error(400, "use_activation");
        }
        owner.post("/api/manage/extension-points/events/rollback", json!({})).await.expect_error(400, "use_activation");
        let restored = owner.post("/api/manage/extension-points/events/revisions/1/restore", json!({})).await;
        restored.expect_error(400, "use_activation");
        // Values of one link may change; it stays one of the activation.
        chain(&owner, "events", with(1, json!({"limits": {"logLines": 4}}))).await.expect(200);
        chain(&owner, "events", with(2, json!({}))).await.expect_error(400, "use_activation");
        // A module of one point is that chain's alone.
        activate(&owner, 1, json!({"events": {}})).await.expect(200);
        chain(&owner, "events", with(2, json!({}))).await.expect(200);
        chain(&owner, "events", json!([])).await.expect(200);
    }

    async fn what_is_wrong_is_told_by_its_place_in_the_activation(hub: Hub) {
        let owner = hub.network().await;
        prepare(&owner).await;
        let refused = async |body: Value, place: &str| {
            let told = owner.put(ACTIVATION, body).await.expect(400).clone();
            assert_eq!(told["code"], "invalid_request", "{told}");
            assert!(told["error"].as_str().unwrap().contains(place), "{told}");
        };
        refused(json!({"version": 1, "points": {}}), "`points`").await;
        let canary = json!({"events": {"mode": "CANARY", "percent": 5}});
        refused(json!({"version": 1, "grants": scopes(), "points": canary}), "`points.events.mode`").await;
        let much = json!({"events": {}, "schedules": {"limits": {"computeMillis": 1_000_000_000}}});
        refused(json!({"version": 1, "grants": scopes(), "points": much}), "`points.schedules.limits.").await;
        let none = json!({"scopes": ["none:such"]});
        let unknown = json!({"scopes": ["economy:write", "events:read", "none:such"]});
        refused(json!({"version": 1, "grants": unknown, "points": {"events": {}}}), "`grants.scopes`").await;
        refused(json!({"version": 1, "grants": none, "points": {"chat": {}}}), "`grants`").await;
        assert_eq!(links(&now(&owner).await), []);
    }

    async fn commands_change_all_points_at_once(hub: Hub) {
        let owner = hub.network().await;
        prepare(&owner).await;
        let grants = scopes().to_string();
        let (first, second) = ("events: season 1\nschedules: season 1\n", "events: season 2\nschedules: season 2\n");
        assert_eq!(succeed(&hub, &owner, &["activate", "season", "1", "--grants", &grants]).await, first);
        // Values that are not given stay.
        assert_eq!(succeed(&hub, &owner, &["activate", "season", "--config", r#"{"a": 1}"#]).await, second);
        let both = ["activate", "season", "--point", "schedules", "--point", "events"];
        assert_eq!(succeed(&hub, &owner, &both).await, second);
        let shown = now(&owner).await;
        assert_eq!((&shown["links"][1]["config"], &shown["links"][1]["grants"]["scopes"]), (&json!({"a": 1}), &scopes()["scopes"]));
        let parted = fail(&hub, &owner, &["activate", "season", "1", "--point", "events"]).await;
        assert!(parted.contains("/api/manage/modules/season/activation"), "{parted}");
        assert_eq!(succeed(&hub, &owner, &["rollback", "season"]).await, first);
        assert_eq!(succeed(&hub, &owner, &["deactivate", "season"]).await, "season is in no chain\n");
        let listed = succeed(&hub, &owner, &["list"]).await;
        assert!(listed.ends_with("events: counter 1\nendpoints: no module\nschedules: no module\n"), "{listed}");
        fail(&hub, &owner, &["rollback"]).await;
        fail(&hub, &owner, &["rollback", "season", "--point", "events"]).await;
    }

    async fn an_activation_is_rolled_back_and_ended_as_a_whole(hub: Hub) {
        let owner = hub.network().await;
        prepare(&owner).await;
        let rollback = format!("{ACTIVATION}/rollback");
        owner.post(&rollback, json!({})).await.expect_error(400, "nothing_to_roll_back");
        owner.delete(ACTIVATION).await.expect_error(404, "unknown_module");
        assert_eq!(links(&now(&owner).await), []);
        let both = json!({"events": {}, "schedules": {}});
        activate(&owner, 1, both.clone()).await.expect(200);
        activate(&owner, 2, json!({"events": {}})).await.expect(200);
        let schedules = "/api/manage/modules/season/schedules";
        assert_eq!(owner.get(schedules).await.expect(200)["total"], 0);
        let back = owner.post(&rollback, json!({})).await.expect(200).clone();
        assert_eq!(links(&back), [("events", 1), ("schedules", 1)]);
        assert_eq!(owner.get(schedules).await.expect(200)["total"], 1);
        assert_eq!(links(owner.post(&rollback, json!({})).await.expect(200)), [("events", 2)]);
        // Others stay.
        assert_eq!(names(&point(&owner, "events").await), ["counter", "season"]);

        activate(&owner, 1, both).await.expect(200);
        let robot = owner.key_with(&["modules:write"]).await;
        robot.delete(ACTIVATION).await.expect(204);
        assert_eq!(links(&now(&owner).await), []);
        assert_eq!(names(&point(&owner, "events").await), ["counter"]);
        // Nobody brings back grants that are not theirs.
        robot.post(&rollback, json!({})).await.expect_error(403, "forbidden_scope");
        let hub = hub.restart(std::time::Duration::ZERO).await;
        let owner = hub.with_key(owner.key.as_ref().unwrap()).for_network(owner.network.unwrap());
        let back = owner.post(&rollback, json!({})).await.expect(200).clone();
        assert_eq!(links(&back), [("events", 1), ("schedules", 1)]);
        let audit = owner.get("/api/manage/audit?action=chain.rolled_back").await.expect(200).clone();
        let targets: Vec<_> = audit["items"].as_array().unwrap().iter().take(2).map(|it| it["target"].clone()).collect();
        assert_eq!(targets, ["schedules", "events"]);
    }
}
