//! Work that goes on behind a request: indexes, forgetting, deletion.

use serde_json::json;

use crate::scale::Scale;
use crate::support::Hub;

const PLAYER: &str = "00000000-0000-4000-8000-000000000001";

pub async fn weigh(scale: &mut Scale) {
    let owner = scale.hub.network().await;
    owner
        .post("/api/plugin/collections/register", json!({"collections": [{"name": "c", "indexes": []}]}))
        .await
        .expect(200);
    let texts = |field: &str| json!({"field": field, "type": "string"});
    let document = json!({"of": PLAYER, "text": "x".repeat(250_000), "list": vec!["y".repeat(900); 4]});
    let all = (0..80).map(|at| (reqwest::Method::PUT, format!("/api/plugin/collections/c/d{at}"), document.clone()));
    scale.fill(&owner, all).await;
    let data = json!({"data": format!("\"{}\"", "x".repeat(250_000))});
    let path = format!("/api/plugin/players/{PLAYER}/data/global");
    scale.fill(&owner, (0..4).map(|at| (reqwest::Method::PUT, format!("{path}/n{at}"), data.clone()))).await;

    let indexed = json!({"collections": [{"name": "c", "indexes": [texts("of"), texts("text"), texts("list")]}]});
    let (client, query) = (owner.clone(), "/api/plugin/collections/c/by/of?value=nobody");
    let index = async move {
        client.post("/api/plugin/collections/register", indexed).await.expect(200);
        Hub::eventually("it is indexed", async || client.get(query).await.status == 200).await;
    };
    scale.weigh("index of 80 documents of 256 KiB", None, index).await;

    let (client, path) = (owner.clone(), format!("/api/plugin/players/{PLAYER}"));
    let forget = async move {
        client.delete(&path.replace("plugin", "manage")).await.expect(204);
        Hub::eventually("the player is forgotten", async || {
            client.get(&path).await.status == 404
                || client.get("/api/manage/forgotten-players").await.body["total"] == 1
        })
        .await;
    };
    scale.weigh("a player is forgotten", None, forget).await;

    let operator = scale.hub.operator().await;
    let path = format!("/api/admin/networks/{}", owner.network.unwrap());
    let clock = scale.hub.clock.clone();
    let delete = async move {
        operator.delete(&format!("{path}?now=true")).await.expect(204);
        Hub::eventually("the network is deleted", async || {
            clock.advance(std::time::Duration::from_millis(500));
            !operator.get(&path).await.expect(200)["deletedAt"].is_null()
        })
        .await;
    };
    scale.weigh("a network is deleted", None, delete).await;
}
