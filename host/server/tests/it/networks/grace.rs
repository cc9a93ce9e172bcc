//! A network that is to be deleted in seven days: what still works for whom, until it is resumed or its deletion
//! begins.

use std::collections::BTreeMap;

use reqwest::Method;
use serde_json::{Value, json};
use sqlx::Executor as _;

use super::path;
use crate::artifacts::{UPLOAD, install, path as path_of_link, register, upload};
use crate::imports::{BALANCES, IMPORTS, files, upload as upload_import};
use crate::modules::endpoints;
use crate::modules::handlers::handled;
use crate::modules::handlers::schedules::activate;
use crate::people::{PASSWORD, code, member, send};
use crate::servers::uuid;
use crate::support::{Answer, Backend, Hub, NOW, on_each};
use crate::webhooks::{add, publish, receiver};

const WEEK: i64 = 7 * 24 * 3_600_000;

/// Operations that take a key of a network, by the document, with values in their paths.
async fn operations(hub: &Hub) -> Vec<(Method, String)> {
    let document = hub.anonymous().get("/api/openapi.json").await.expect(200).clone();
    let mut all = vec![];
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let takes_key =
                operation["security"].as_array().is_some_and(|all| all.iter().any(|it| !it["apiKey"].is_null()));
            if takes_key && !path.starts_with("/api/admin/") {
                let path = path.replace("{playerUuid}", &uuid(1)).replace("{uuid}", &uuid(1));
                all.push((method.to_uppercase().parse().unwrap(), path.replace(['{', '}'], "")));
            }
        }
    }
    assert!(all.len() > 150, "{}", all.len());
    all
}

async fn no_caller_of_the_network_is_served(backend: Backend) {
    let hub = Hub::start(backend).await;
    let (owner, other, operator) = (hub.network().await, hub.network().await, hub.operator().await);
    let made = json!({"networkId": owner.network.unwrap()});
    let bound = json!({"name": "b", "scopes": ["plugin"], "servers": ["lobby-1"]});
    let bound = owner.post("/api/manage/keys", bound).await.expect(201)["apiKey"].as_str().unwrap().to_owned();
    let alex = member(&hub, &owner, "alex@example.org", "OWNER").await;
    let keys: BTreeMap<_, _> = BTreeMap::from([
        ("owner", owner.clone()),
        ("connector", owner.key_with(&["plugin"]).await),
        ("agent", owner.key_with(&["agent"]).await),
        ("bound key", owner.with_key(&bound)),
    ]);
    operator.delete(&path(&made)).await.expect(204);
    for (method, path) in operations(&hub).await {
        for (name, key) in &keys {
            let answer = key.send(key.request(method.clone(), &path)).await;
            assert_eq!(answer.body["code"], "network_suspended", "{method} {path} by the {name}: {}", answer.body);
        }
        let of_person = hub.anonymous().request(method.clone(), &path).bearer_auth(&alex.token);
        let answer = hub.anonymous().send(of_person).await;
        assert_eq!(answer.body["code"], "network_suspended", "{method} {path} by a member: {}", answer.body);
    }
    // Their account is theirs, and tells which network it is about.
    let me = send(&hub, &alex.token, Method::GET, "/api/people/me", Value::Null).await.expect(200).clone();
    assert_eq!(me["networks"][0]["networkId"], made["networkId"]);
    other.get("/api/manage/keys").await.expect(200);
}

async fn the_operator_looks_after_it(backend: Backend) {
    let hub = Hub::start(backend).await;
    let operator = hub.operator().await;
    let made = operator.post("/api/admin/networks", json!({"name": "one"})).await.expect(201).clone();
    let owner = hub.with_key(made["apiKey"].as_str().unwrap());
    operator.delete(&path(&made)).await.expect(204);
    let shown = operator.get(&path(&made)).await.expect(200).clone();
    assert_eq!((&shown["suspended"], &shown["deleteAt"]), (&json!(true), &json!(NOW + WEEK)));
    operator.get(&format!("{}/usage", path(&made))).await.expect(200);
    operator.get(&format!("{}/people", path(&made))).await.expect(200);
    operator.patch(&path(&made), json!({"name": "two"})).await.expect(200);
    operator.post("/api/admin/networks", json!({"name": "two"})).await.expect_error(400, "name_taken");
    // A key that is made meanwhile works once the network does.
    let keys = format!("{}/keys", path(&made));
    let later = operator.post(&keys, json!({"name": "k", "scopes": ["plugin"]})).await.expect(201).clone();
    let later_key = hub.with_key(later["apiKey"].as_str().unwrap());
    later_key.get("/api/plugin/players").await.expect_error(403, "network_suspended");
    operator.delete(&format!("{keys}/{}", made["keyId"].as_str().unwrap())).await.expect(204);
    owner.get("/api/manage/keys").await.expect_error(401, "unauthenticated");
    // Once more, and with other words, changes nothing of the time.
    hub.advance_ms(60_000);
    operator.delete(&path(&made)).await.expect(204);
    operator.patch(&path(&made), json!({"suspended": true})).await.expect(200);
    assert_eq!(operator.get(&path(&made)).await.expect(200)["deleteAt"], NOW + WEEK);
    let resumed = operator.patch(&path(&made), json!({"suspended": false})).await.expect(200).clone();
    assert_eq!((&resumed["suspended"], &resumed["deleteAt"]), (&json!(false), &Value::Null));
    later_key.get("/api/plugin/players").await.expect(200);
    let audit = operator.get("/api/admin/audit?limit=200").await.expect(200).to_string();
    assert!(audit.contains("two") && !audit.contains("network.deleted"), "{audit}");
}

on_each! { no_caller_of_the_network_is_served the_operator_looks_after_it a_deletion_that_began_is_final }
on_each! { nothing_is_done_for_it_until_it_is_resumed(crate::webhooks::start) }

async fn nothing_is_done_for_it_until_it_is_resumed(hub: Hub) {
    let (owner, operator, receiver) = (hub.network().await, hub.operator().await, receiver().await);
    let made = json!({"networkId": owner.network.unwrap()});
    register(&owner, "lobby-1").await;
    let artifact = upload(&owner, UPLOAD, "bytes").await;
    let link = install(&owner, artifact.expect(201), "lobby-1").await;
    let link = path_of_link(&hub, link.expect(201));
    let ban = json!({"playerUuid": uuid(4), "playerName": "Alexandra", "type": "BAN"});
    let ban = owner.post("/api/plugin/punishments/create", ban).await.expect(200).clone();
    let appeal = format!("/api/public/appeals/{}", ban["appealCode"].as_str().unwrap());
    endpoints::install(&owner, json!({})).await;
    // Every minute.
    activate(&owner, 1, &[("minute", "* * * * *", "ONCE")]).await;
    let (hook, _) = add(&owner, &receiver.url(), &["CONFIG_UPDATED"]).await;
    publish(&owner, "first").await;
    Hub::eventually("the first one arrives", async || receiver.count() == 1).await;
    owner.post("/api/manage/people", json!({"email": "kim@example.org", "role": "VIEWER"})).await.expect(201);
    let invitation = code(&hub, "kim@example.org", 1).await;
    let mut stream = owner.events(None, None).await;
    let import = upload_import(&owner, BALANCES, files::balances(60_000)).await.expect(201).clone();
    let import = format!("{IMPORTS}/{}", import["importId"].as_str().unwrap());

    let ran = handled(&owner).await;
    operator.delete(&path(&made)).await.expect(204);
    let done = async || {
        let done = "SELECT done FROM imports WHERE network_id = $1";
        hub.app.db.query(done).bind(owner.network.unwrap()).one::<(i64,)>().await.unwrap().0
    };
    hub.advance_ms(1_000);
    stream.until_end().await;
    let stranger = hub.anonymous();
    stranger.get(&link).await.expect_error(403, "network_suspended");
    stranger.get(&appeal).await.expect_error(404, "unknown_appeal_code");
    stranger.post(&appeal, json!({"text": "please"})).await.expect_error(404, "unknown_appeal_code");
    let vote = async || endpoints::vote(&owner, &json!({"id": "1", "uuid": uuid(1)}).to_string()).await;
    Hub::eventually("its endpoints are unknown", async || vote().await.status == 404).await;
    // Invited people have an account of the hub, and no more.
    let accepting = json!({"token": invitation, "name": "Kim", "password": PASSWORD});
    let kim = stranger.post("/api/people/accept", accepting).await.expect(200)["token"].as_str().unwrap().to_owned();
    send(&hub, &kim, Method::GET, "/api/manage/servers", Value::Null).await.expect_error(403, "network_suspended");

    // Due things stay due: the hub looks for them many times.
    let running = "SELECT COUNT(*) FROM jobs WHERE network_id = $1 AND kind = 'import' AND node IS NOT NULL";
    Hub::eventually("the import has stopped", async || {
        let running = hub.app.db.query(running).bind(owner.network.unwrap());
        running.one::<(i64,)>().await.unwrap().0 == 0
    })
    .await;
    let before = done().await;
    let sent = receiver.count();
    for _ in 0..240 {
        hub.advance_ms(500);
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
    assert_eq!((done().await, receiver.count()), (before, sent));
    operator.patch(&path(&made), json!({"suspended": false})).await.expect(200);
    assert_eq!(handled(&owner).await, ran, "a schedule ran meanwhile");

    Hub::eventually("its schedules go on", async || {
        hub.advance_ms(500);
        handled(&owner).await > ran
    })
    .await;
    stranger.get(&link).await.expect(200);
    stranger.get(&appeal).await.expect(200);
    Hub::eventually("its import goes on to its end", async || owner.get(&import).await.expect(200)["state"] == "DONE")
        .await;
    publish(&owner, "second").await;
    Hub::eventually("its webhooks go on", async || {
        hub.advance_ms(500);
        receiver.count() > sent
    })
    .await;
    assert_eq!(owner.get(&format!("/api/manage/webhooks/{hook}")).await.expect(200)["enabled"], true);
}

/// Makes the deletion of a network's documents fail, or ends that.
async fn hold_deletion(hub: &Hub, holds: bool) {
    if hub.backend.is_postgres() {
        let sql = if holds {
            "CREATE FUNCTION held() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'held'; END $$;
             CREATE TRIGGER held BEFORE DELETE ON config_documents FOR EACH ROW EXECUTE FUNCTION held()"
        } else {
            "DROP TRIGGER held ON config_documents"
        };
        hub.database().await.execute(sql).await.unwrap();
    } else {
        let sql = if holds {
            "CREATE TRIGGER held BEFORE DELETE ON config_documents BEGIN SELECT RAISE(ABORT, 'held'); END"
        } else {
            "DROP TRIGGER held"
        };
        hub.app.db.write(sql).execute().await.unwrap();
    }
}

async fn a_deletion_that_began_is_final(backend: Backend) {
    let hub = Hub::start(backend).await;
    let (owner, operator) = (hub.network().await, hub.operator().await);
    let made = json!({"networkId": owner.network.unwrap()});
    publish(&owner, "board").await;
    hold_deletion(&hub, true).await;
    operator.delete(&format!("{}?now=true", path(&made))).await.expect(204);
    hub.advance_ms(2_000);
    let begun = "SELECT COUNT(*) FROM network_deletions WHERE network_id = $1 AND begun";
    Hub::eventually("the deletion has begun", async || {
        hub.advance_ms(100);
        hub.app.db.query(begun).bind(owner.network.unwrap()).one::<(i64,)>().await.unwrap() == (1,)
    })
    .await;
    let resume = async || -> Answer { operator.patch(&path(&made), json!({"suspended": false})).await };
    resume().await.expect_error(409, "network_being_deleted");
    operator.delete(&path(&made)).await.expect(204);
    resume().await.expect_error(409, "network_being_deleted");
    owner.get("/api/manage/keys").await.expect_error(403, "network_suspended");
    hold_deletion(&hub, false).await;
    Hub::eventually("it is deleted", async || {
        hub.advance_ms(10_000);
        !operator.get(&path(&made)).await.expect(200)["deletedAt"].is_null()
    })
    .await;
    resume().await.expect_error(404, "unknown_network");
    // The deletion can be seen before the node has dropped what it remembers.
    Hub::eventually("its keys are unknown", async || owner.get("/api/manage/keys").await.status == 401).await;
}
