//! All SQL of the component.

mod insert_event;
mod listeners;
mod outbox;
mod session_listeners;
mod subscriptions;

use crate::component::{Term, renew_term};
use crate::events::listeners::TTL;
pub use insert_event::insert_event;

pub(super) use listeners::{add_listeners, listeners, renew_listeners, writing_transactions};
pub(super) use outbox::{
    WaitingEvent, count_waiting, delete, delete_returning, excess, insert, insert_copies, insert_if_wanted, lock_up_to,
    networks, newest, replace, waiting,
};
pub(super) use session_listeners::{
    delete_session_listener, delete_session_listeners, is_session_listener, put_session_listener,
    renew_session_listeners,
};
pub use subscriptions::SubscribedEvent;
pub(super) use subscriptions::{subscribe, subscribed, subscribed_names, subscriptions, unsubscribe};

/// Records of streams, whose ends are corrected with the clock.
pub(super) const TERMS: &[Term] = &[
    Term::new(renew_term!("event_listeners", "network_id, name", "until", "TRUE"), |_| TTL),
    Term::new(renew_term!("session_listeners", "network_id, server_id", "until", "TRUE"), |_| TTL),
];

#[cfg(test)]
mod tests {
    use hub_db::{Config, Db};
    use uuid::Uuid;

    use super::listeners::LISTENERS;
    use super::outbox::{DELETE, INSERT_IF_WANTED, LOCK_UP_TO, NETWORKS, NTH_NEWEST, WAITING};
    use super::subscriptions::{SUBSCRIBED, SUBSCRIBED_NAMES, SUBSCRIPTIONS};
    use super::*;
    use crate::query_plan::query_plans;
    use crate::values::NetworkId;

    #[tokio::test]
    async fn the_oldest_of_too_many_events_give_way_to_one() {
        let folder = tempfile::TempDir::new().unwrap();
        let db = Db::connect(&Config::Sqlite { path: folder.path().join("hub.db") }).await.unwrap();
        db.migrate().await.unwrap();
        let (network, other) = (NetworkId(Uuid::from_u128(1)), NetworkId(Uuid::from_u128(2)));
        let add = async |network, count| {
            for _ in 0..count {
                db.transaction(async |mut tx| insert(&mut tx, network, "CHAT", Some("a"), "{}", 5).await)
                    .await
                    .unwrap();
            }
        };
        let names = async |network| {
            let waiting = waiting(&db, network, 100).await.unwrap();
            waiting.into_iter().map(|event| (event.name, event.target)).collect::<Vec<_>>()
        };
        let trim = async || {
            db.transaction(async |mut tx| match excess(&mut tx, network, 20).await? {
                Some(last) => {
                    let mut ids = lock_up_to(&mut tx, network, last).await?;
                    ids.remove(&last);
                    replace(&mut tx, network, last, ("RESYNC", "{}")).await?;
                    delete(&mut tx, network, &ids).await?;
                    Ok::<_, hub_db::Error>(ids.len())
                }
                None => Ok(0),
            })
            .await
            .unwrap()
        };
        add(network, 22).await;
        add(other, 30).await;
        assert_eq!(trim().await, 0, "a tenth more is kept");
        add(network, 1).await;
        assert_eq!(trim().await, 2);
        let kept = names(network).await;
        assert_eq!((kept.len(), &kept[0]), (21, &("RESYNC".to_owned(), None)));
        assert!(kept[1..].iter().all(|(name, target)| name == "CHAT" && target.as_deref() == Some("a")));
        assert_eq!(names(other).await.len(), 30);
        assert_eq!(networks(&db).await.unwrap(), [network, other]);
        let ids = waiting(&db, network, 100).await.unwrap().into_iter().map(|event| event.id).collect();
        delete(&db, other, &ids).await.unwrap();
        assert_eq!(names(network).await.len(), 21, "another network's");
        delete(&db, network, &ids).await.unwrap();
        assert_eq!((networks(&db).await.unwrap(), newest(&db).await.unwrap()), (vec![other], Some(52)));
    }

    #[tokio::test]
    async fn every_statement_reads_its_networks_events_alone() {
        let statements = [
            WAITING,
            DELETE.sqlite,
            NTH_NEWEST,
            LISTENERS,
            INSERT_IF_WANTED,
            SUBSCRIBED_NAMES,
            SUBSCRIPTIONS,
            SUBSCRIBED.sqlite,
            LOCK_UP_TO.sqlite,
        ];
        for plan in query_plans(&statements).await {
            assert!(plan.iter().all(|step| !step.contains("SCAN outbox")), "{plan:?}");
            assert!(plan.iter().all(|step| !step.contains("TEMP B-TREE")), "{plan:?}");
        }
        for plan in query_plans(&[NETWORKS]).await {
            let reads = plan.iter().filter(|step| step.contains("outbox") || step.contains(" o "));
            assert!(reads.clone().count() == 2 && reads.clone().all(|step| step.contains("INDEX")), "{plan:?}");
        }
    }
}
