//! Balances of `EssentialsX` and of tables.

use reqwest::Method;
use serde_json::{Value, json};

use super::{counts, files, has_note, import, notes};
use crate::support::{Client, Hub, on_both};

const QUERY: &str = "kind=balances&currency=coins";

async fn balance(client: &Client, at: usize) -> Value {
    let path = format!("/api/plugin/economy/player/{}/currencies", files::player(at));
    client.get(&path).await.expect(200)[0]["balance"].clone()
}

async fn give(client: &Client, at: usize, amount: i64) {
    let path = format!("/api/plugin/economy/player/{}/currencies/modify", files::player(at));
    client.post(&path, json!({"currency": "coins", "amount": amount})).await.expect(200);
}

on_both! {
    async fn essentials_user_files_are_read(hub: Hub) {
        let owner = hub.network().await;
        let name = |at: usize| format!("userdata/{}.yml", files::player(at));
        let (one, two, three, four, five, six) = (name(1), name(2), name(3), name(4), name(5), name(6));
        let archive = files::zip(&[
            ("userdata/", ""),
            ("usermap.bin", "x"),
            (&one, "timestamps:\n  lastteleport: 0\n  kits: {}\nmoney: '1234.56789'\nnpc: false\nlast-account-name: Steve\n\
                homes:\n  home:\n    money: '7'\n    world: world\nmail:\n- read: false\n  message: \"hi: there\"\n"),
            (&two, "money: 50\nip-address: 127.0.0.1\n"),
            (&three, "last-account-name: NoMoney\n"),
            (&four, "npc: true\nmoney: '99'\nnpc-name: town-x\n"),
            (&five, "money: '1'\nhomes: [\n  a: {\n"),
            (&six, "money: 'a lot'\n"),
        ]);
        let done = import(&owner, QUERY, archive).await;
        assert_eq!(done["state"], "DONE", "{done}");
        assert_eq!(counts(&done, "BALANCES"), [2, 0, 0, 4], "{:?}", notes(&done));
        for part in ["No `money`", "belongs to a plugin", "Cannot read the file", "must be a number", "Truncated after four decimal places"] {
            assert!(has_note(&done, part), "{part}: {:?}", notes(&done));
        }
        assert_eq!((balance(&owner, 1).await, balance(&owner, 2).await), (json!(1234.5678), json!(50)));
        let ledger = format!("/api/manage/economy/player/{}/ledger", files::player(1));
        let ledger = owner.get(&ledger).await.expect(200).clone();
        assert_eq!(ledger["items"][0]["reason"], format!("import {}", done["importId"].as_str().unwrap()));
    }

    async fn tables_have_names_or_begin_with_a_uuid(hub: Hub) {
        let (one, two) = (files::player(1), files::player(2));
        for table in [
            format!("uuid,name,balance\n{one},Steve,10.5\n{two},\"A, B\",20\nSteve,Steve,3\n"),
            format!("\u{feff}Player UUID;Money;x\r\n{one};10.5;\r\n{two};20;\r\nSteve;3;\r\n"),
            format!("{one}\t10.5\n{two}\t20\nSteve\t3\n"),
            format!("uuid,balance\n{one},\"10,5\"\n{two},20\n{two},20,5\n"),
        ] {
            let owner = hub.network().await;
            let done = import(&owner, QUERY, table.clone()).await;
            assert_eq!(counts(&done, "BALANCES"), [2, 0, 0, 1], "{table}: {done}");
            let is_told = ["4 Steve: There is no player UUID", "3 Steve: There is no player UUID", "The row has 3 columns, the table 2"];
            assert!(is_told.iter().any(|part| has_note(&done, part)), "{:?}", notes(&done));
            assert_eq!((balance(&owner, 1).await, balance(&owner, 2).await), (json!(10.5), json!(20)));
        }
    }

    async fn money_earned_since_the_import_stays(hub: Hub) {
        let owner = hub.network().await;
        let table = |amount: i64| format!("uuid,balance\n{},{amount}\n", files::player(1));
        give(&owner, 1, 7).await;
        let first = import(&owner, QUERY, table(100)).await;
        assert_eq!((counts(&first, "BALANCES"), balance(&owner, 1).await), ([0, 1, 0, 0], json!(100)), "it is set");
        give(&owner, 1, 5).await;
        let second = import(&owner, QUERY, table(100)).await;
        assert_eq!((counts(&second, "BALANCES"), balance(&owner, 1).await), ([0, 0, 1, 0], json!(105)));
        let dry = import(&owner, &format!("{QUERY}&dryRun=true"), table(130)).await;
        assert_eq!((counts(&dry, "BALANCES"), balance(&owner, 1).await), ([0, 1, 0, 0], json!(105)));
        import(&owner, QUERY, table(130)).await;
        assert_eq!(balance(&owner, 1).await, json!(135), "30 more there are 30 more here");
    }

    async fn a_player_who_is_named_twice_has_the_first_amount(hub: Hub) {
        let owner = hub.network().await;
        // So far apart that they are written in different batches.
        let table = format!("{}{},x,7\n", files::balances(600), files::player(1));
        for counted in [[600, 0, 0, 1], [0, 0, 600, 1]] {
            let done = import(&owner, QUERY, table.clone()).await;
            assert_eq!(counts(&done, "BALANCES"), counted, "{:?}", notes(&done));
            assert!(has_note(&done, "602 player") && has_note(&done, "names the player twice"), "{:?}", notes(&done));
            assert_eq!(balance(&owner, 1).await, json!(1.5));
        }
    }

    async fn bounds_of_currencies_hold(hub: Hub) {
        let owner = hub.network().await;
        owner.put("/api/manage/economy/currencies/coins", json!({"minimum": 0, "maximum": 1_000, "startingBalance": 50})).await.expect(200);
        let table = format!("uuid,balance\n{},-5\n{},2000\n{},50\n{},60\n", files::player(1), files::player(2), files::player(3), files::player(4));
        let done = import(&owner, QUERY, table.clone()).await;
        assert_eq!(counts(&done, "BALANCES"), [2, 0, 0, 2], "{done}");
        assert!(has_note(&done, "outside its currency's bounds"), "{:?}", notes(&done));
        assert_eq!((balance(&owner, 1).await, balance(&owner, 4).await), (json!(50), json!(60)));
        owner.put("/api/manage/economy/currencies/coins", json!({"minimum": -100, "maximum": null, "startingBalance": 50})).await.expect(200);
        let again = import(&owner, QUERY, table).await;
        assert_eq!(counts(&again, "BALANCES"), [2, 0, 2, 0], "{again}");
        assert_eq!(balance(&owner, 1).await, json!(-5));
    }

    async fn plans_bound_uploads_and_limits_bound_stored_files(hub: Hub) {
        let operator = hub.operator().await;
        operator.post("/api/admin/plans", json!({"name": "small", "limits": {"fileBytes": 1_000}})).await.expect(201);
        let owner = hub.network().await;
        let network = owner.network.unwrap();
        let patched = operator.request(Method::PATCH, &format!("/api/admin/networks/{network}")).json(&json!({"plan": "small"}));
        operator.send(patched).await.expect(200);
        Hub::eventually("the plan counts", async || {
            super::upload(&owner, QUERY, files::balances(100)).await.status.as_u16() == 403
        })
        .await;
        super::upload(&owner, QUERY, files::balances(100)).await.expect_quota("fileBytes", 1_000);
        for _ in 0..5 {
            let done = import(&owner, QUERY, files::balances(10)).await;
            assert_eq!(done["state"], "DONE", "a file counts until its import ends");
        }
    }
}
