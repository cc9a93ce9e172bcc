//! Every event that the stream really sends matches its documentation, and every example is valid.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};

use crate::modules::handlers;
use crate::servers::{join, register, uuid};
use crate::support::{Client, Event, Events, Hub, on_both};

const STEVE: &str = "069a79f4-44e9-4726-a5be-fca90e38aaf5";
/// Events that only streams get that name them.
const ON_REQUEST: [&str; 9] = [
    "SESSION_REQUESTED",
    "SESSION_ENDED",
    "DELIVERY_READY",
    "DELIVERY_SETTLED",
    "TICKET_MATCHED",
    "TICKET_UPDATED",
    "REPORT_CREATED",
    "APPEAL_CREATED",
    "CHAT_VERDICT",
];

/// Violations of a value against a schema, which must name all possible fields.
fn problems(document: &Value, schema: &Value, value: &Value, at: &str) -> Vec<String> {
    if let Some(reference) = schema["$ref"].as_str() {
        return problems(document, document.pointer(&reference[1..]).unwrap(), value, at);
    }
    if let Some(choices) = schema["oneOf"].as_array() {
        let all: Vec<_> = choices.iter().map(|choice| problems(document, choice, value, at)).collect();
        let fitting = all.iter().filter(|problems| problems.is_empty()).count();
        return if fitting == 1 {
            vec![]
        } else {
            vec![format!("{at}: {fitting} of {} choices fit: {all:?}", all.len())]
        };
    }
    if let Some(parts) = schema["allOf"].as_array() {
        let fields: BTreeSet<_> = parts.iter().flat_map(|part| fields(document, part)).collect();
        let mut found = unknown_fields(&fields, value, at);
        for part in parts {
            let known: BTreeSet<_> = self::fields(document, part).into_iter().collect();
            let own: Value = value
                .as_object()
                .unwrap()
                .iter()
                .filter(|(name, _)| known.contains(*name))
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect::<serde_json::Map<_, _>>()
                .into();
            found.extend(problems(document, part, &own, at));
        }
        return found;
    }
    let mut found = vec![];
    if let Some(values) = schema["enum"].as_array()
        && !values.contains(value)
    {
        found.push(format!("{at}: {value} is none of {values:?}"));
    }
    if let Some(constant) = schema.get("const")
        && constant != value
    {
        found.push(format!("{at}: {value} is not {constant}"));
    }
    let kinds = match &schema["type"] {
        Value::String(one) => vec![one.as_str()],
        Value::Array(several) => several.iter().map(|kind| kind.as_str().unwrap()).collect(),
        _ => return found,
    };
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    if !(kinds.contains(&kind) || kind == "integer" && kinds.contains(&"number")) {
        found.push(format!("{at}: {value} is no {kinds:?}"));
        return found;
    }
    if let Some(items) = value.as_array() {
        found.extend(items.iter().flat_map(|item| problems(document, &schema["items"], item, at)));
    }
    if let Some(sent) = value.as_object().filter(|_| schema.get("properties").is_some()) {
        let known: BTreeSet<_> = fields(document, schema).into_iter().collect();
        found.extend(unknown_fields(&known, value, at));
        for name in schema["required"].as_array().into_iter().flatten() {
            if !sent.contains_key(name.as_str().unwrap()) {
                found.push(format!("{at}: {name} is missing"));
            }
        }
        for (name, value) in sent {
            if let Some(schema) = schema["properties"].get(name) {
                found.extend(problems(document, schema, value, &format!("{at}.{name}")));
            }
        }
    }
    found
}

fn fields(document: &Value, schema: &Value) -> Vec<String> {
    if let Some(reference) = schema["$ref"].as_str() {
        return fields(document, document.pointer(&reference[1..]).unwrap());
    }
    let of_parts = schema["allOf"].as_array().into_iter().flatten().flat_map(|part| fields(document, part));
    of_parts.chain(schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.clone())).collect()
}

fn unknown_fields(known: &BTreeSet<String>, value: &Value, at: &str) -> Vec<String> {
    let sent = value.as_object().into_iter().flatten();
    sent.filter(|(name, _)| !known.contains(*name)).map(|(name, _)| format!("{at}.{name} is not documented")).collect()
}

async fn stream(client: &Client, server: &str, types: &str) -> Events {
    Events::open(client.request(Method::GET, &format!("/api/plugin/events?serverId={server}&types={types}"))).await
}

async fn post(client: &Client, path: &str, body: Value) -> Value {
    let answer = client.post(path, body).await;
    assert!(answer.status.is_success(), "{path}: {}", answer.body);
    answer.body
}

/// Causes every event.
async fn happen(hub: &Hub, client: &Client) {
    register(client, "lobby", json!({"maxPlayers": 50, "worlds": [{"worldId": "w"}]})).await;
    register(client, "islands-1", json!({"serverType": "islands"})).await;
    register(client, "target", json!({})).await;
    join(client, "target", 7).await;
    join(client, "lobby", 7).await;
    let kit = json!({"playerUuid": uuid(7), "kind": "kit", "payload": {"kit": "starter"}});
    post(client, "/api/plugin/deliveries", kit).await;
    post(client, "/api/manage/deliveries/1/cancel", Value::Null).await;
    let line = json!({"playerUuid": uuid(7), "playerName": "p7", "message": "hi", "serverId": "lobby", "rank": "VIP"});
    post(client, "/api/plugin/chat", line).await;
    register(client, "arena", json!({"serverType": "arena", "maxPlayers": 1})).await;
    for (player, on) in [(20, "lobby"), (21, "lobby"), (22, "lobby")] {
        join(client, on, player).await;
        post(client, "/api/plugin/matchmaking/tickets", json!({"playerUuid": uuid(player), "serverType": "arena"}))
            .await;
    }
    let ban = json!({"playerUuid": uuid(7), "type": "MUTE", "durationMs": 1_000});
    post(client, "/api/plugin/punishments/create", ban).await;
    let report = json!({"reporterUuid": uuid(8), "playerUuid": uuid(7), "reason": "Insults"});
    post(client, "/api/plugin/reports", report).await;
    let mute = client.get("/api/manage/punishments").await.expect(200)["items"][0]["appealCode"].clone();
    let path = format!("/api/public/appeals/{}", mute.as_str().unwrap());
    post(&hub.anonymous(), &path, json!({"text": "Sorry."})).await;
    let command =
        post(client, "/api/plugin/transfers", json!({"playerUuid": uuid(7), "targetServerId": "target"})).await;
    assert_eq!(command["result"], "SUCCESS");
    let entries = json!({"namespace": "n", "locale": "en", "entries": {"k": "v"}});
    post(client, "/api/plugin/localization/defaults", entries).await;
    post(client, "/api/plugin/config/publish", json!({"group": "g", "namespace": "n", "doc": 5})).await;
    let coins = json!({"currency": "coins", "amount": 1.5});
    post(client, &format!("/api/plugin/economy/player/{STEVE}/currencies/modify"), coins).await;
    post(client, &format!("/api/plugin/permissions/users/{STEVE}/permissions"), json!({"node": "fly"})).await;
    client.put("/api/plugin/permissions/groups/vip", json!({})).await.expect(204);
    post(client, "/api/manage/signing-secret/rotate", json!({})).await;
    let seed = json!({"ref": "desert", "format": "schematic", "x": 0.5, "y": 64.0, "z": -3.0});
    let body = json!({"gameId": "islands", "ownerScope": "party", "ownerId": "p", "seed": seed, "worldGen": "flat"});
    let id = post(client, "/api/plugin/worlds/open", body).await["worldInstanceId"].as_str().unwrap().to_owned();
    let by = json!({"nodeServerId": "islands-1", "fence": 1});
    post(client, &format!("/api/plugin/worlds/{id}/ready"), by.clone()).await;
    post(client, &format!("/api/plugin/worlds/{id}/snapshot"), json!({"reason": "BOSS"})).await;
    post(client, &format!("/api/plugin/worlds/{id}/release"), Value::Null).await;
    post(client, &format!("/api/plugin/worlds/{id}/unloaded"), by).await;
    client.delete(&format!("/api/plugin/servers/players/{}?serverId=lobby", uuid(7))).await.expect(204);
    join(client, "islands-1", 8).await;
    client.post("/api/plugin/servers/unregister?serverId=islands-1", Value::Null).await.expect(204);
    handlers::activate(client, "PLAYER").await;
    for key in ["E1", "J1", "M1"] {
        handlers::vote(client, key).await;
    }
    let session = format!("/api/plugin/players/{STEVE}/session");
    post(client, &session, json!({"serverId": "lobby"})).await;
    let (taking, of_steve) = (client.clone(), session.clone());
    tokio::spawn(async move { taking.post(&of_steve, json!({"serverId": "target", "waitMs": 1_000})).await });
    let asking = client.clone();
    tokio::spawn(async move {
        let path = "/api/manage/servers/lobby/command";
        asking.post(path, json!({"command": "say hi", "timeoutMs": 1_000})).await;
    });
    hub.advance_ms(16_000);
}

/// Checks an event against both documents.
pub fn check(openapi: &Value, asyncapi: &Value, event: &Event) {
    let messages = asyncapi["components"]["messages"].as_object().unwrap();
    let (title, _) = messages.iter().find(|(_, it)| it["name"] == event.name).unwrap();
    for document in [openapi, asyncapi] {
        let schema = &document["components"]["schemas"][title];
        assert!(schema.is_object(), "{title}");
        let found = problems(document, schema, &event.data, &event.name);
        assert!(found.is_empty(), "{found:#?}\n{}", event.data);
    }
    let any = json!({"$ref": "#/components/schemas/ServerEvent"});
    assert_eq!(problems(openapi, &any, &event.data, "any"), [""; 0], "{}", event.data);
}

on_both! {
    async fn sent_events_match_the_documents(hub: Hub) {
        let client = hub.network().await;
        let anonymous = hub.anonymous();
        let openapi = anonymous.get("/api/openapi.json").await.expect(200).clone();
        let asyncapi = anonymous.get("/api/asyncapi.json").await.expect(200).clone();
        let messages = asyncapi["components"]["messages"].as_object().unwrap();
        let wanted: Vec<_> = messages.values().map(|it| it["name"].as_str().unwrap()).collect();
        let types = wanted.join(",");
        let mut streams = vec![];
        for server in ["lobby", "islands-1"] {
            streams.push(stream(&client, server, &types).await);
        }
        let mut unnamed = client.events(None, None).await;
        happen(&hub, &client).await;
        // A stream from an unknown position begins with RESYNC.
        let request = client.request(Method::GET, "/api/plugin/events").header("Last-Event-ID", "nothing");
        streams.push(Events::open(request).await);
        let mut missing: BTreeSet<_> = wanted.iter().copied().collect();
        // It takes a restart to see it soon: the test of handlers that lag checks it.
        assert!(missing.remove("MODULE_LAGGING"));
        let mut seen: Vec<Event> = vec![];
        for round in 0.. {
            if missing.is_empty() {
                break;
            }
            assert!(round < 200, "never seen: {missing:?}");
            for events in &mut streams {
                let next = tokio::time::timeout(std::time::Duration::from_millis(200), events.next()).await;
                if let Ok(Some(event)) = next {
                    missing.remove(event.name.as_str());
                    seen.push(event);
                }
            }
            hub.advance_ms(1_000);
        }
        let last = json!({"playerUuid": uuid(9), "playerName": "p9", "message": "the last line", "serverId": "lobby"});
        post(&client, "/api/plugin/chat", last).await;
        loop {
            let event = unnamed.next().await.unwrap();
            assert!(!ON_REQUEST.contains(&event.name.as_str()), "nobody asked for {}", event.name);
            if event.data["message"] == "the last line" {
                break;
            }
        }
        for event in seen {
            check(&openapi, &asyncapi, &event);
        }
    }

    async fn the_events_are_a_document_of_their_own(hub: Hub) {
        let document = hub.anonymous().get("/api/asyncapi.json").await.expect(200).clone();
        assert_eq!((&document["asyncapi"], &document["operations"]["receiveEvents"]["action"]), (&json!("3.0.0"), &json!("receive")));
        let channel = &document["channels"]["events"];
        assert_eq!(channel["address"], "/api/plugin/events");
        let messages = document["components"]["messages"].as_object().unwrap();
        assert!(messages.len() >= 21 && channel["messages"].as_object().unwrap().len() == messages.len());
        for (title, message) in messages {
            assert!(message["summary"].as_str().is_some_and(|text| text.len() > 10), "{title}");
            let example = &message["examples"][0]["payload"];
            assert_eq!(example["type"], message["name"], "{title}");
            assert_eq!(example["previousServerId"].is_string(), title == "PlayerSwitchedEvent", "{title}");
            assert!(example.get("groupId").is_none() || example.get("playerUuid").is_none(), "{title}");
            let found = problems(&document, &message["payload"], example, title);
            assert!(found.is_empty(), "{found:#?}\n{example}");
        }
        let stream = hub.anonymous().get("/api/openapi.json").await.expect(200)["paths"]["/api/plugin/events"]["get"].clone();
        let schema = &stream["responses"]["200"]["content"]["text/event-stream"]["schema"];
        assert_eq!(schema["$ref"], "#/components/schemas/ServerEvent");
    }
}
