//! Expiries of punishments of several networks.

use hub::values::NetworkId;
use sqlx::Executor as _;

use super::{ALEX, MINUTE, STEVE, create, wait_for_published};
use crate::support::{Hub, on_both};

on_both! {
    async fn expiries_that_cannot_be_published_hold_up_no_other_network(hub: Hub) {
        let (stuck, other) = (hub.network().await, hub.network().await);
        // They are due first, and more than are recorded at once.
        let all = (0..110).map(|_| create(&stuck, STEVE, "MUTE", Some(MINUTE)));
        futures_util::future::join_all(all).await;
        let own = create(&other, ALEX, "MUTE", Some(MINUTE + 1)).await;
        wait_for_published(&hub, 111).await;
        let mut events = other.events(None, None).await;
        let mut theirs = stuck.events(None, None).await;
        refuse_events(&hub, stuck.network).await;
        hub.advance_ms(MINUTE as u64 + 1);
        while events.next().await.unwrap().data["punishment"]["id"] != own {}
        assert_eq!(hub.app.bus.stats().published, 112);
        // What could not be recorded is told once it can be.
        refuse_events(&hub, None).await;
        Hub::eventually("the rest is published", async || {
            hub.advance_ms(500);
            hub.app.bus.stats().published == 222
        })
        .await;
        while theirs.next().await.unwrap().data["action"] != "EXPIRED" {}
    }
}

/// Makes it fail to publish an event of this network, or ends that.
async fn refuse_events(hub: &Hub, network: Option<NetworkId>) {
    let sql: &str = match (hub.backend.is_postgres(), network) {
        (true, Some(id)) => format!(
            "CREATE FUNCTION held() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'held'; END $$;
             CREATE TRIGGER held BEFORE INSERT ON outbox FOR EACH ROW WHEN (NEW.network_id = '{id}')
             EXECUTE FUNCTION held()"
        ),
        (true, None) => "DROP TRIGGER held ON outbox".to_owned(),
        (false, Some(id)) => format!(
            "CREATE TRIGGER held BEFORE INSERT ON outbox WHEN NEW.network_id = X'{}'
             BEGIN SELECT RAISE(ABORT, 'held'); END",
            id.to_string().replace('-', "")
        ),
        (false, None) => "DROP TRIGGER held".to_owned(),
    }
    .leak();
    if hub.backend.is_postgres() {
        hub.database().await.execute(sql).await.unwrap();
    } else {
        hub.app.db.write(sql).execute().await.unwrap();
    }
}
