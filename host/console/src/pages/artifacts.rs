//! Artifacts: plugins that the network stores, and the servers on which the console or a program installed them.

use axum::Router;
use axum::extract::State;
use axum::routing::post;
use serde_json::{Map, Value, json};
use tokio::join;

use crate::Console;
use crate::action::{Action, Verb};
use crate::form::Field;
use crate::page::{Page, page};
use crate::refusal::Refusal;
use crate::upload::{Upload, fields};
use crate::visit::Visit;

pub(super) static PAGES: &[Page] = &[page!("/n/{network}/artifacts", "artifacts.html", list)];

const ARTIFACTS: &str = "/n/{network}/artifacts";
const SERVER: &[Field] = &[Field::text("serverId")];

pub(super) static ACTIONS: &[Action] = &[
    Action::post(
        "/n/{network}/artifacts/{artifactId}/install",
        "/api/manage/artifacts/{artifactId}/install",
        SERVER,
        ARTIFACTS,
        "Sent",
    ),
    Action::post(
        "/n/{network}/artifacts/{artifactId}/delete",
        "/api/manage/artifacts/{artifactId}",
        &[],
        ARTIFACTS,
        "Deleted",
    )
    .verb(Verb::Delete)
    .confirm("label"),
];

static FILE: Upload = Upload {
    route: "/api/manage/artifacts",
    query: |form| fields(form, &["name", "version"]),
    page: &PAGES[0],
    then: ("/console/n/{network}/artifacts?done=Uploaded", "artifactId"),
};

pub(crate) fn router() -> Router<Console> {
    let upload = async |State(console), request| FILE.answer(console, request).await;
    Router::new().route("/console/n/{network}/artifacts", post(upload))
}

async fn list(visit: &Visit) -> Result<Value, Refusal> {
    let query = [("limit", "50"), ("page", visit.query("page"))];
    let (artifacts, servers, installed) = join!(
        visit.get("/api/manage/artifacts", &query),
        visit.part("/api/manage/servers", &[("limit", "200")]),
        visit.part("/api/manage/audit", &[("limit", "200"), ("action", "artifact.installed")]),
    );
    Ok(json!({"artifacts": artifacts?, "servers": servers?, "installed": by_hash(&installed?)}))
}

/// The latest installation of each artifact on each server, by the hash of its bytes.
fn by_hash(audit: &Value) -> Map<String, Value> {
    let mut found = Map::new();
    for entry in audit["items"].as_array().into_iter().flatten() {
        let Some(hash) = entry["after"]["sha256"].as_str() else { continue };
        let of_hash = found.entry(hash).or_insert_with(|| json!([]));
        let Some(servers) = of_hash.as_array_mut() else { continue };
        if servers.iter().all(|known| known["serverId"] != entry["target"]) {
            servers.push(json!({"serverId": entry["target"], "at": entry["at"], "by": entry["actor"]["name"]}));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_installation_on_each_server_counts() {
        let entry = |server: &str, at: i64| json!({"target": server, "at": at, "actor": {"name": "o"}, "after": {"sha256": "x"}});
        let found = by_hash(&json!({"items": [entry("a", 3), entry("b", 2), entry("a", 1), {"target": "c"}]}));
        assert_eq!(
            Value::Object(found),
            json!({"x": [{"serverId": "a", "at": 3, "by": "o"}, {"serverId": "b", "at": 2, "by": "o"}]})
        );
    }
}
