//! `LiteBans`' database in its three forms.

use std::time::Duration;

use serde_json::{Value, json};

use super::files::{self, Cell, Table, h2, mysql, sqlite};
use super::{counts, has_note, import, notes};
use crate::support::{Client, Hub, NOW, on_both};

const STEVE: &str = "069a79f4-44e9-4726-a5be-fca90e38aaf5";
const ALEX: &str = "ec561538-f3fd-461d-aff5-086b22154bce";
const HOUR: i64 = 3_600_000;

fn text(text: &str) -> Cell {
    Cell::Text(text.to_owned())
}

const COLUMNS: [&str; 19] = [
    "id",
    "uuid",
    "ip",
    "reason",
    "banned_by_uuid",
    "banned_by_name",
    "removed_by_uuid",
    "removed_by_name",
    "removed_by_reason",
    "removed_by_date",
    "time",
    "until",
    "template",
    "server_scope",
    "server_origin",
    "silent",
    "ipban",
    "ipban_wildcard",
    "active",
];

/// A row of a table: an active permanent punishment of Steve by the console, with the changes of `change`.
fn row(id: i64, change: &[(&str, Cell)]) -> Vec<Cell> {
    COLUMNS
        .iter()
        .map(|column| match change.iter().find(|(name, _)| name == column) {
            Some((_, cell)) => cell.clone(),
            None => match *column {
                "id" => Cell::Number(id),
                "uuid" => text(STEVE),
                "ip" => text("192.0.2.1"),
                "reason" => text("§cIt's \\ griefing"),
                "banned_by_uuid" => text("CONSOLE"),
                "banned_by_name" => text("Console"),
                "time" => Cell::Number(NOW - 10 * HOUR),
                "until" => Cell::Number(0),
                "template" => Cell::Number(255),
                "server_scope" => text("*"),
                "server_origin" => text("litebans"),
                "silent" | "ipban" | "ipban_wildcard" => Cell::Bit(false),
                "active" => Cell::Bit(true),
                _ => Cell::Null,
            },
        })
        .collect()
}

fn removed(by: &str, name: &str) -> Vec<(&'static str, Cell)> {
    vec![
        ("active", Cell::Bit(false)),
        ("removed_by_uuid", text(by)),
        ("removed_by_name", text(name)),
        ("removed_by_reason", text("appeal")),
        ("removed_by_date", Cell::Time("2027-03-10 09:30:00".to_owned())),
    ]
}

fn bans() -> Vec<Vec<Cell>> {
    let until = |at: i64| ("until", Cell::Number(at));
    vec![
        row(1, &[]),
        row(2, &[until(NOW - HOUR)]),
        row(3, &removed(ALEX, "Alex")),
        row(4, &[until(NOW - HOUR), ("active", Cell::Bit(false)), ("removed_by_name", text("#expired"))]),
        row(5, &[("uuid", text(ALEX)), ("ip", text("203.0.113.7")), ("ipban", Cell::Bit(true))]),
        row(6, &[("uuid", Cell::Null), ("ip", text("198.51.100.9")), ("ipban", Cell::Bit(true))]),
        row(
            7,
            &[
                ("uuid", text("#offline#")),
                ("ip", text("192.168.1.%")),
                ("ipban", Cell::Bit(true)),
                ("ipban_wildcard", Cell::Bit(true)),
            ],
        ),
        row(8, &[("server_scope", text("lobby"))]),
        row(9, &[("uuid", text("#offline#")), ("ip", text("#"))]),
        row(10, &[until(NOW + HOUR), ("banned_by_uuid", text(ALEX)), ("banned_by_name", text("Alex"))]),
    ]
}

fn tables() -> Vec<Table> {
    let table = |name, rows| Table { name, columns: COLUMNS.to_vec(), rows };
    let history = |id, date: &str, name: &str, uuid: &str, ip: &str| {
        vec![Cell::Number(id), Cell::Time(date.to_owned()), text(name), text(uuid), text(ip)]
    };
    vec![
        table("litebans_bans", bans()),
        Table {
            name: "litebans_history",
            columns: vec!["id", "date", "name", "uuid", "ip"],
            rows: vec![
                history(1, "2026-01-04 19:35:39", "CONSOLE", "CONSOLE", "#"),
                history(2, "2026-01-05 19:35:39", "Steve", STEVE, "192.0.2.1"),
                history(3, "2025-01-05 19:35:39", "OldSteve", STEVE, "192.0.2.2"),
                history(4, "2026-01-05 19:35:39", "Alex", ALEX, "203.0.113.7"),
            ],
        },
        table("litebans_kicks", vec![row(1, &[("until", Cell::Number(-1)), ("active", Cell::Bit(false))])]),
        table("litebans_mutes", vec![row(1, &[("until", Cell::Number(-1)), ("banned_by_uuid", text(ALEX))])]),
        table("litebans_warnings", vec![row(1, &[("reason", text(&"x".repeat(2_000)))])]),
    ]
}

async fn history(client: &Client, player: &str) -> Vec<Value> {
    let path = format!("/api/plugin/punishments/player/{player}/history");
    client.get(&path).await.expect(200).as_array().unwrap().clone()
}

async fn active(client: &Client, path: &str) -> Vec<String> {
    let found = client.get(&format!("/api/plugin/punishments/{path}")).await.expect(200).clone();
    let mut kinds: Vec<_> =
        found.as_array().unwrap().iter().map(|it| it["type"].as_str().unwrap().to_owned()).collect();
    kinds.sort();
    kinds
}

/// Checks its result, without the ids, which follow the order of the file.
async fn check(client: &Client) {
    let all = history(client, STEVE).await;
    let of = |kind: &str| all.iter().filter(|it| it["type"] == kind).collect::<Vec<_>>();
    assert_eq!((of("BAN").len(), of("MUTE").len(), of("WARN").len(), of("KICK").len()), (5, 1, 1, 1));
    let first = &of("MUTE")[0];
    assert_eq!(
        (&first["playerName"], &first["reason"], &first["issuerName"], &first["issuerUuid"], &first["issuedAt"]),
        (&json!("Steve"), &json!("§cIt's \\ griefing"), &json!("Console"), &json!(ALEX), &json!(NOW - 10 * HOUR))
    );
    assert_eq!(
        (&first["durationMs"], &first["active"], &first["ipBased"]),
        (&Value::Null, &json!(true), &json!(false))
    );
    assert_eq!(of("KICK")[0]["active"], false);
    assert_eq!(of("WARN")[0]["reason"].as_str().unwrap().len(), 1_024);
    let temporary: Vec<_> = of("BAN").into_iter().filter(|ban| ban["expiresAt"] == NOW + HOUR).collect();
    assert_eq!((&temporary[0]["durationMs"], &temporary[0]["issuerUuid"]), (&json!(11 * HOUR), &json!(ALEX)));
    assert_eq!(
        active(client, &format!("player/{STEVE}")).await,
        ["BAN", "BAN", "MUTE", "WARN"],
        "not the revoked one, nor the expired ones"
    );
    assert_eq!(active(client, "player-name/STEVE").await, ["BAN", "BAN", "MUTE", "WARN"], "by the name in the history");
    assert_eq!(active(client, &format!("player/{ALEX}")).await, ["BAN"]);
    assert_eq!(history(client, ALEX).await[0]["ipBased"], true);
    for (ip, count) in [("198.51.100.9", 1), ("203.0.113.7", 1), ("192.0.2.1", 0), ("192.168.1.1", 0)] {
        assert_eq!(active(client, &format!("query?ip={ip}")).await.len(), count, "{ip}");
    }
    let ips = client.get(&format!("/api/plugin/players/{STEVE}/ips")).await.expect(200).to_string();
    assert!(ips.contains("192.0.2.2"), "{ips}");
}

on_both! {
    async fn every_form_of_the_database_imports_the_same(hub: Hub) {
        let (mut reports, mut owners) = (vec![], vec![]);
        for (form, file) in [("mysql", mysql(&tables())), ("h2", h2(&tables())), ("sqlite", sqlite(&tables()).await),
            ("gzip", files::gzip(&mysql(&tables())))]
        {
            let owner = hub.network().await;
            let done = import(&owner, "kind=litebans", file).await;
            assert_eq!(done["state"], "DONE", "{form}: {done}");
            assert_eq!(counts(&done, "PUNISHMENTS"), [10, 0, 0, 3], "{form}: {:?}", notes(&done));
            assert_eq!(counts(&done, "SIGHTINGS"), [3, 0, 0, 1], "{form}");
            for part in ["litebans_bans 7: The hub cannot punish address ranges", "litebans_bans 8: Limited to `lobby`",
                "litebans_bans 9: There is neither", "litebans_warnings 1: The reason is truncated", "litebans_history 1: There is no player UUID"]
            {
                assert!(has_note(&done, part), "{form}, {part}: {:?}", notes(&done));
            }
            check(&owner).await;
            owners.push(owner);
            reports.push(done["report"]["counts"].clone());
        }
        assert!(reports.iter().all(|report| *report == reports[0]));
        hub.clock.advance(Duration::from_hours(2));
        for owner in &owners {
            let left = active(owner, &format!("player/{STEVE}")).await;
            assert_eq!(left, ["BAN", "MUTE", "WARN"], "the temporary one has expired");
        }
    }

    async fn dumps_of_the_real_databases_are_read(hub: Hub) {
        for (form, file) in [("MariaDB", include_bytes!("dumps/mariadb-10.11.sql").as_slice()), ("H2", include_bytes!("dumps/h2-2.1.sql").as_slice())] {
            let owner = hub.network().await;
            let done = import(&owner, "kind=litebans", file).await;
            assert_eq!(done["state"], "DONE", "{form}: {done}");
            assert_eq!((counts(&done, "PUNISHMENTS"), counts(&done, "SIGHTINGS")), ([7, 0, 0, 0], [2, 0, 0, 1]), "{form}");
            let of_steve = history(&owner, STEVE).await;
            let told: Vec<_> = of_steve.iter().map(|it| (it["type"].as_str().unwrap(), it["reason"].as_str(), &it["active"])).collect();
            let (yes, no) = (json!(true), json!(false));
            let reason = "§cIt's \\ \"griefing\"; `x` -- no\nnext\ttab";
            for expected in [("BAN", Some(reason), &yes), ("MUTE", Some("spam"), &yes), ("WARN", None, &yes), ("KICK", Some("afk"), &no)] {
                assert!(told.contains(&expected), "{form}: {expected:?} in {told:?}");
            }
            let of_alex = &history(&owner, ALEX).await[0];
            assert_eq!((&of_alex["reason"], &of_alex["ipBased"], &of_alex["active"]), (&json!("emoji \u{1f3f0} ип"), &yes, &no), "{form}");
            assert_eq!(active(&owner, "query?ip=198.51.100.9").await, ["BAN"], "{form}");
        }
    }

    async fn a_second_import_doubles_nothing_and_revokes_what_was_removed_since(hub: Hub) {
        let owner = hub.network().await;
        let dry = import(&owner, "kind=litebans&dryRun=true", mysql(&tables())).await;
        assert_eq!(history(&owner, STEVE).await, Vec::<Value>::new());
        let first = import(&owner, "kind=litebans", mysql(&tables())).await;
        assert_eq!(first["report"], dry["report"]);
        let before = history(&owner, STEVE).await;
        // Another form of the same database.
        let second = import(&owner, "kind=litebans", h2(&tables())).await;
        assert_eq!(counts(&second, "PUNISHMENTS"), [0, 0, 10, 3]);
        assert_eq!(counts(&second, "SIGHTINGS"), [0, 0, 3, 1]);
        assert_eq!(history(&owner, STEVE).await, before);

        let mut later = tables();
        later[0].rows[0] = row(1, &removed(ALEX, "Alex"));
        later[0].rows.push(row(11, &[]));
        for counted in [[1, 1, 9, 3], [0, 0, 11, 3]] {
            let third = import(&owner, "kind=litebans", mysql(&later)).await;
            assert_eq!(counts(&third, "PUNISHMENTS"), counted);
        }
        let after = history(&owner, STEVE).await;
        assert_eq!(after.len(), before.len() + 1);
        let active: Vec<_> = after.iter().filter(|it| it["type"] == "BAN" && it["active"] == true).collect();
        assert_eq!(active.len(), 2, "the temporary one and the new one");
    }

    async fn punishments_ended_before_the_import_send_no_event(hub: Hub) {
        let owner = hub.network().await;
        let mut events = owner.events(None, None).await;
        import(&owner, "kind=litebans", mysql(&tables())).await;
        hub.advance_ms(2 * HOUR.unsigned_abs());
        let expired = events.next_named("PUNISHMENT").await.data;
        assert_eq!((&expired["action"], &expired["punishment"]["expiresAt"]), (&json!("EXPIRED"), &json!(NOW + HOUR)));
        let ban = json!({"playerName": "Robin", "type": "BAN"});
        owner.post("/api/plugin/punishments/create-by-name", ban).await.expect(200);
        let next = events.next_named("PUNISHMENT").await.data;
        assert_eq!((&next["action"], &next["punishment"]["playerName"]), (&json!("CREATED"), &json!("Robin")));
    }

    async fn punishments_of_single_servers_can_count_everywhere(hub: Hub) {
        let owner = hub.network().await;
        let done = import(&owner, "kind=litebans&scopes=everywhere", mysql(&tables())).await;
        assert_eq!(counts(&done, "PUNISHMENTS"), [11, 0, 0, 2]);
        assert!(has_note(&done, "litebans_bans 8: Limited to `lobby`; now applies to the whole network"));
        let other = hub.network().await;
        let missing = import(&other, "kind=litebans&prefix=bans_", mysql(&tables())).await;
        assert!(missing["error"]["message"].as_str().unwrap().contains("bans_mutes"));
    }

    async fn more_punishments_than_a_player_may_have_are_skipped(hub: Hub) {
        let owner = hub.network().await;
        let many = Table { name: "litebans_kicks", columns: COLUMNS.to_vec(), rows: (1..=2_003).map(|id| row(id, &[])).collect() };
        let dry = import(&owner, "kind=litebans&dryRun=true", mysql(std::slice::from_ref(&many))).await;
        let done = import(&owner, "kind=litebans", mysql(&[many])).await;
        assert_eq!(counts(&done, "PUNISHMENTS"), [2_000, 0, 0, 3]);
        assert_eq!(dry["report"], done["report"]);
        assert!(has_note(&done, "punishmentsPerPlayer"), "{:?}", notes(&done));
        if hub.app.db.backend() == hub_db::Backend::Postgres {
            let analyzed = "SELECT COUNT(*) FROM pg_stat_user_tables WHERE relname = 'punishments' AND last_analyze IS NOT NULL";
            Hub::eventually("the database has looked at them", async || {
                hub.app.db.query(analyzed).one::<(i64,)>().await.unwrap() == (1,)
            })
            .await;
        }
    }
}
