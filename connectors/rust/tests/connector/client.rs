//! Calls: their errors, repeats and shapes.

use std::time::Duration;

use network_hub_client::model::{
    CollectionDefinition, CollectionIndex, IncrementedStatistic, IndexType, LanguageSource, PunishmentAction,
    PunishmentChange, PunishmentKind, StatisticPeriod,
};
use network_hub_client::{DocumentQuery, HubClient, LoadOptions, Method, Order, RetryPolicy, StatusCode};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::hub::{FakeHub, HubProcess, answer};

fn quick(hub: &FakeHub) -> HubClient {
    let retry =
        RetryPolicy { attempts: 3, first_delay: Duration::from_millis(1), max_delay: Duration::from_millis(1_500) };
    HubClient::builder(&hub.url, "key").retry(retry).build().unwrap()
}

fn busy(headers: &str) -> (String, bool) {
    (answer("503 Service Unavailable", headers, "{\"error\":\"Stopping.\",\"code\":\"stopping\"}"), false)
}

#[test]
fn values_and_fields_of_newer_hubs_are_tolerated() {
    let change: PunishmentChange = serde_json::from_value(json!({
        "action": "OF_A_NEWER_HUB", "newField": [1, {}],
        "punishment": {
            "id": 1, "type": "OF_A_NEWER_HUB", "active": true, "ipBased": false, "issuedAt": 0, "durationMs": null,
        },
    }))
    .unwrap();
    assert_eq!((change.action, change.punishment.kind), (PunishmentAction::Unknown, PunishmentKind::Unknown));
    assert_eq!(change.punishment.duration_ms, None);
    let values: IncrementedStatistic = serde_json::from_value(json!({
        "statisticName": "kills", "gameMode": "global", "newValues": {"DAILY": 1, "HOURLY": 2.5},
    }))
    .unwrap();
    let periods = [StatisticPeriod::Daily, StatisticPeriod::Unknown];
    assert!(periods.iter().all(|period| values.new_values.contains_key(period)));
    assert_eq!(StatisticPeriod::Daily.to_string(), "DAILY");
}

#[tokio::test]
async fn repeatable_calls_use_one_key() {
    let hub = FakeHub::start(vec![busy(""), (String::new(), false), (answer("200 OK", "", "{\"ok\":1}"), false)]).await;
    let answered: Value = quick(&hub).request(Method::POST, "/api/x").json(&json!({})).send().await.unwrap();
    assert_eq!(answered["ok"], 1);
    let keys = hub.header("idempotency-key");
    assert_eq!(keys.len(), 3);
    assert!(keys[0].is_some() && keys.iter().all(|key| key == &keys[0]), "{keys:?}");
    assert_eq!(hub.header("x-service-api-key")[0].as_deref(), Some("key"));
}

#[tokio::test]
async fn unrepeatable_calls_fail_immediately() {
    let hub = FakeHub::start(vec![busy("")]).await;
    let error = quick(&hub).request(Method::POST, "/api/x").once().run().await.unwrap_err();
    assert!(error.is("stopping") && error.is_transient());
    // Nor is a refusal that another attempt does not change, nor one that asks for more patience than there is.
    let refusing = FakeHub::start(vec![(answer("400 Bad Request", "", "{\"code\":\"bad\"}"), false)]).await;
    assert!(quick(&refusing).request(Method::GET, "/api/x").run().await.unwrap_err().is("bad"));
    let patient = FakeHub::start(vec![busy("retry-after: 7\r\n")]).await;
    let error = quick(&patient).request(Method::GET, "/api/x").run().await.unwrap_err();
    assert_eq!(error.retry_after(), Some(Duration::from_secs(7)));
    assert_eq!([&hub, &refusing, &patient].map(|hub| hub.requests.lock().len()), [1, 1, 1]);
}

#[tokio::test]
async fn it_waits_as_long_as_it_is_asked_to_and_gives_up_after_its_attempts() {
    let limited = answer("429 Too Many Requests", "retry-after: 1\r\n", "{\"code\":\"rate_limited\"}");
    let hub = FakeHub::start(vec![(limited, false), (answer("200 OK", "", ""), false)]).await;
    let began = tokio::time::Instant::now();
    quick(&hub).request(Method::POST, "/api/x").once().run().await.unwrap();
    assert!(began.elapsed() >= Duration::from_secs(1));
    // A gateway has no code.
    let hub = FakeHub::start(vec![(answer("502 Bad Gateway", "", "<html>"), false)]).await;
    assert!(quick(&hub).request(Method::GET, "/api/x").run().await.unwrap_err().is("http_502"));
    assert_eq!(hub.requests.lock().len(), 3);
}

#[tokio::test]
async fn errors_say_what_is_wrong() {
    for url in ["hub.example", "ftp://hub.example", "http://", ""] {
        let error = HubClient::new(url, "key").unwrap_err();
        assert!(error.is("invalid_request") && error.message().contains("is no address of a hub"), "{error}");
    }
    assert!(HubClient::new("http://127.0.0.1:9", " ").unwrap_err().message().contains("API key"));
    let nobody = HubClient::new("http://127.0.0.1:9/", "key").unwrap().with_retries(RetryPolicy::NONE);
    let error = nobody.list_servers(None, None, 0).await.unwrap_err();
    assert!(error.is("unreachable") && error.is_transient());
    assert_eq!(error.to_string(), "the hub at http://127.0.0.1:9 does not answer");
    assert!(error.message().contains("refused"), "{}", error.message());
    // A path of another route is never sent.
    assert!(nobody.get_config_document("..", "x").await.unwrap_err().is("invalid_request"));
    let html = FakeHub::start(vec![(answer("200 OK", "", "<html>"), false)]).await;
    assert!(quick(&html).get_catalog(&[]).await.unwrap_err().is("invalid_answer"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_explains_its_refusals() {
    let hub = HubProcess::start_new();
    let error = HubClient::new(&hub.url(), "hub_wrong").unwrap().get_catalog(&[]).await.unwrap_err();
    assert_eq!(error.status(), Some(StatusCode::UNAUTHORIZED));
    assert!(error.is("unauthenticated") && error.to_string().starts_with("the hub answered 401 Unauthorized: "));
    assert!(error.refusal().unwrap().request_id.is_some());
    let missing = hub.client().request(Method::GET, "/api/manage/servers/nobody").find::<Value>().await;
    assert!(missing.unwrap().is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn players_and_documents_are_stored() {
    let hub = HubProcess::start_new();
    let owner = hub.client();
    let player = Uuid::from_u128(42);
    assert!(owner.get_player(player, None).await.unwrap().is_none());
    let include = ["permissions", "punishments", "language", "balances", "statistics", "data:profile"];
    let options = LoadOptions {
        username: Some("Änn/1 ?".to_owned()),
        include: include.map(str::to_owned).into(),
        ..LoadOptions::default()
    };
    let loaded = owner.load_player(player, &options).await.unwrap();
    assert_eq!(loaded.username.as_deref(), Some("Änn/1 ?"));
    assert!(loaded.permissions.is_some() && loaded.statistics.is_some() && loaded.balances.is_some());
    assert!(loaded.data.unwrap()["profile"].is_none() && loaded.punishments == Some(vec![]));

    assert!(owner.get_player_data(player, "sky", "profile").await.unwrap().is_none());
    let written = owner.put_player_data(player, "sky", "profile", "{\"a\": 1.0}", Some(0)).await.unwrap();
    assert_eq!((written.version, written.data.as_str()), (1, "{\"a\": 1.0}"));
    let stale = owner.put_player_data(player, "sky", "profile", "{}", Some(7)).await.unwrap_err();
    assert!(stale.is("version_conflict"));
    assert!(owner.delete_player_data(player, "sky", "profile").await.unwrap());
    assert!(!owner.delete_player_data(player, "sky", "profile").await.unwrap());

    let counted = owner.increment_player_statistic(player, "wins", 2.5, None).await.unwrap();
    assert_eq!(counted.new_values[&StatisticPeriod::Weekly].to_string(), "2.5");
    let board = owner.get_statistic_leaderboard("player", None, "wins", StatisticPeriod::Lifetime, 5).await.unwrap();
    assert_eq!(board.entries[0].owner_key, player.to_string());
    let language = owner.put_player_locale(player, Some("de"), LanguageSource::Player).await.unwrap();
    assert_eq!(owner.get_player_locale(player).await.unwrap(), language);

    let index = CollectionIndex { field: "members".to_owned(), kind: IndexType::Number };
    let guilds = CollectionDefinition { name: "guilds".to_owned(), key: None, indexes: Some(vec![index]) };
    assert_eq!(owner.register_collections(&[guilds]).await.unwrap()[0].indexes[0].kind, IndexType::Number);
    for members in [3, 1, 2] {
        let document = json!({"members": members});
        owner.put_document("guilds", &format!("g {members}/"), &document).await.unwrap();
    }
    let query = DocumentQuery::Range { min: Some(2.0), max: None, order: Order::Descending };
    let page = owner.find_documents("guilds", "members", &query, 1, None).await.unwrap();
    assert_eq!(page.items[0].id, "g 3/");
    let rest = owner.find_documents("guilds", "members", &query, 5, page.next_cursor.as_deref()).await.unwrap();
    assert_eq!((rest.items.len(), rest.items[0].id.as_str(), rest.next_cursor), (1, "g 2/", None));
    let found = owner.find_documents("guilds", "members", &DocumentQuery::By(json!(1)), 5, None).await.unwrap();
    assert_eq!(found.items[0].doc, json!({"members": 1}));
    let (all, top) = (DocumentQuery::All(Order::Ascending), DocumentQuery::Top);
    for (query, first) in [(all, "g 1/"), (top, "g 3/")] {
        let page = owner.find_documents("guilds", "members", &query, 5, None).await.unwrap();
        assert_eq!(page.items[0].id, first);
    }
    assert_eq!(owner.get_documents("guilds", &["g 2/", "none"]).await.unwrap().items.len(), 1);
    assert!(owner.delete_document("guilds", "g 1/").await.unwrap());
    assert_eq!(owner.get_document::<Value>("guilds", "g 1/").await.unwrap(), None);
}
