//! Expiries of punishments of several networks.

use super::{ALEX, MINUTE, STEVE, create, wait_for_published};
use crate::support::{Hub, on_both};

on_both! {
    async fn expiries_that_cannot_be_published_hold_up_no_other_network(hub: Hub) {
        // Networks are found by their ids.
        let mut networks = [hub.network().await, hub.network().await];
        networks.sort_by_key(|network| network.network.unwrap().to_string());
        let [stuck, other] = networks;
        // They are due first, and more than are recorded at once.
        let all = (0..110).map(|_| create(&stuck, STEVE, "MUTE", Some(MINUTE)));
        futures_util::future::join_all(all).await;
        let own = create(&other, ALEX, "MUTE", Some(MINUTE + 1)).await;
        wait_for_published(&hub, 111).await;
        let mut events = other.events(None, None).await;
        let mut theirs = stuck.events(None, None).await;
        hub.refuse("INSERT ON outbox", stuck.network.unwrap()).await;
        hub.advance_ms(MINUTE as u64 + 1);
        while events.next().await.unwrap().data["punishment"]["id"] != own {}
        assert_eq!(hub.app.bus.stats().published, 112);
        // Those that could not be recorded are told once they can be.
        hub.refuse_no_more("outbox").await;
        Hub::eventually("the rest is published", async || {
            hub.advance_ms(500);
            hub.app.bus.stats().published == 222
        })
        .await;
        while theirs.next().await.unwrap().data["action"] != "EXPIRED" {}
    }
}
