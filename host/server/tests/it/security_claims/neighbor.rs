//! A network that knows another's ids and names is answered like one that invents them.

use std::collections::BTreeMap;
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use super::{invite, operations};
use crate::moving::sample;
use crate::people::member;
use crate::servers::uuid;
use crate::support::{Client, on_both};

/// Values of another network beside invented ones of the same form, by the name of the parameter and the part of the
/// path before it.
struct Names(BTreeMap<&'static str, (String, String)>);

impl Names {
    async fn of(theirs: &Client, transfer: &str) -> Self {
        let first = async |path: &str, name: &str| {
            let page = theirs.get(path).await.expect(200).clone();
            let value = &page["items"][0][name];
            value.as_str().unwrap_or_else(|| panic!("{path} has no {name}: {page}")).to_owned()
        };
        let invented = |value: &str| {
            // Ids are random; their last characters decide nothing else.
            let flip = |character: char| match character {
                'a' | '1' => '2',
                _ if character.is_ascii_digit() => '1',
                _ => 'a',
            };
            let keep = value.len() - 6;
            format!("{}{}", &value[..keep], value[keep..].chars().map(flip).collect::<String>())
        };
        let mut names = BTreeMap::new();
        for (parameter, path, name) in [
            ("keys/{keyId}", "/api/manage/keys", "keyId"),
            ("webhooks/{webhookId}", "/api/manage/webhooks", "webhookId"),
            ("artifacts/{artifactId}", "/api/manage/artifacts", "artifactId"),
            ("imports/{importId}", "/api/manage/imports", "importId"),
            ("people/{personId}", "/api/manage/people", "personId"),
            ("invitations/{invitationId}", "/api/manage/people/invitations", "invitationId"),
        ] {
            let value = first(path, name).await;
            names.insert(parameter, (value.clone(), invented(&value)));
        }
        names.insert("transfers/{transferId}", (transfer.to_owned(), invented(transfer)));
        let (one, other) = (uuid(1), uuid(77));
        for (parameter, theirs, invented) in [
            ("{uuid}", &*one, &*other),
            ("{playerUuid}", &*one, &*other),
            ("{serverId}", "lobby-1", "nobody-9"),
            ("worlds/{id}", "1", "91"),
            ("modules/{name}", "chat-guard", "that-guard"),
            ("player-name/{name}", "Alexandra", "Alexandro"),
            ("currencies/{name}", "gems", "gams"),
            ("collections/{collection}", "guilds", "builds"),
            ("groups/{groupId}", "vip", "pip"),
            ("config/{group}", "orders", "ordeals"),
            ("{serverType}", "bedwars", "bodwars"),
            ("{locale}", "de", "fr"),
            ("{version}", "1", "1"),
        ] {
            names.insert(parameter, (theirs.to_owned(), invented.to_owned()));
        }
        Self(names)
    }

    /// The text with invented names in place of theirs.
    fn replaced(&self, text: String) -> String {
        self.0.values().fold(text, |text, (theirs, invented)| match theirs.len() {
            // Such as `de` and `1`: only as a whole value.
            ..3 => text.replace(&format!("\"{theirs}\""), &format!("\"{invented}\"")),
            _ => text.replace(theirs, invented),
        })
    }

    /// The path with their values, and with invented ones; none if it has none of them.
    fn fill(&self, path: &str, operation: &Value) -> Option<[String; 2]> {
        let mut filled = [path.to_owned(), path.to_owned()];
        for (parameter, (theirs, invented)) in &self.0 {
            let before = parameter.split('{').next().unwrap();
            filled[0] = filled[0].replace(parameter, &format!("{before}{theirs}"));
            filled[1] = filled[1].replace(parameter, &format!("{before}{invented}"));
        }
        let differ = filled[0] != filled[1];
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let schema = &parameter["schema"];
            let examples = [&parameter["example"], &schema["example"], &schema["examples"][0], &schema["enum"][0]];
            let value = examples.into_iter().find(|value| !value.is_null()).cloned().unwrap_or_else(|| json!("1"));
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let name = format!("{{{}}}", parameter["name"].as_str().unwrap());
            filled = filled.map(|path| path.replace(&name, &text));
        }
        differ.then_some(filled)
    }
}

/// Status and body of an answer, without what differs in every answer.
async fn answered(client: &Client, method: &Method, path: &str, header: Option<String>, body: &Value) -> (u16, Value) {
    let mut request = client.request(method.clone(), path);
    if let Some(network) = header {
        request = request.header("X-Network-Id", network);
    }
    let sent = if body.is_null() { request } else { request.json(body) }.send();
    let response = tokio::time::timeout(Duration::from_secs(60), sent).await.expect(path).unwrap();
    let status = response.status().as_u16();
    let is_stream = response.headers().get("content-type").is_some_and(|kind| kind == "text/event-stream");
    let mut body = if is_stream { Value::Null } else { response.json().await.unwrap_or_default() };
    if let Some(fields) = body.as_object_mut() {
        fields.remove("requestId");
    }
    (status, body)
}

on_both! {
    async fn another_networks_ids_are_like_invented_ones(hub: Hub) {
        let theirs = hub.network().await;
        let filled = sample::fill(&hub, &theirs).await;
        member(&hub, &theirs, "alex@example.org", "ADMIN").await;
        invite(&theirs, "kim@example.org").await;
        let names = Names::of(&theirs, &filled.transfer).await;
        let lists = ["keys", "people", "people/invitations", "webhooks", "imports"];
        let state = async || {
            let mut all = sample::answers(&theirs).await;
            for list in lists {
                let mut answer = theirs.get(&format!("/api/manage/{list}")).await.body;
                // The reads of this test.
                for item in answer["items"].as_array_mut().into_iter().flatten() {
                    item["lastUsedAt"] = Value::Null;
                }
                all.push((list.to_owned(), answer));
            }
            all
        };
        let before = state().await;
        let (knowing, inventing) = (hub.network().await, hub.network().await);
        let network = theirs.network.unwrap().to_string();
        let mut operations = operations(&hub).await;
        // Reads first, where both networks are empty, and their answers equal but for the names.
        operations.sort_by_key(|(method, ..)| *method != Method::GET);
        let mut seen = 0;
        for (method, path, operation) in operations {
            // A poll for commands makes an agent, for which its callers would wait.
            let is_poll = method == Method::GET && path.ends_with("/commands");
            let is_ours = path.starts_with("/api/plugin/") || path.starts_with("/api/manage/");
            let Some([known, invented]) = names.fill(&path, &operation).filter(|_| is_ours && !is_poll) else { continue };
            let example = &operation["requestBody"]["content"]["application/json"]["example"];
            let (status, body) = answered(&knowing, &method, &known, Some(network.clone()), example).await;
            let (expected, other) = answered(&inventing, &method, &invented, None, example).await;
            assert_eq!((status, &body["code"]), (expected, &other["code"]), "{method} {known}: {body} {other}");
            let text = body.to_string();
            assert!(!text.contains(&network), "{method} {known}: {text}");
            if method == Method::GET {
                let own = |text: String, client: &Client| text.replace(&client.network.unwrap().to_string(), "own");
                let (text, other) = (own(text, &knowing), own(other.to_string(), &inventing));
                assert_eq!(names.replaced(text), names.replaced(other), "{method} {known}");
            }
            seen += 1;
        }
        assert!(seen > 80, "{seen}");
        assert_eq!(state().await, before, "another network changed it");
    }
}
