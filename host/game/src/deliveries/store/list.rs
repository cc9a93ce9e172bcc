//! SQL of the lists for people.

use hub_db::{Db, Error};

use super::columns;
use crate::deliveries::model::{Delivery, DeliveryState};
use crate::values::{NetworkId, PlayerId};

/// Filter of a list; a field that is none matches all.
#[derive(Clone, Debug, Default)]
pub(in crate::deliveries) struct DeliveryFilter {
    pub(in crate::deliveries) state: Option<DeliveryState>,
    pub(in crate::deliveries) player: Option<PlayerId>,
    pub(in crate::deliveries) kind: Option<String>,
}

macro_rules! listed {
    ($condition:literal, $part:literal) => {
        concat!(
            "SELECT ",
            columns!(),
            " FROM deliveries WHERE network_id = $1 AND ($2 IS NULL OR kind = $2)",
            $condition,
            " ORDER BY delivery_id DESC ",
            $part
        )
    };
}
macro_rules! counted {
    ($condition:literal) => {
        concat!("SELECT COUNT(*) FROM deliveries WHERE network_id = $1 AND ($2 IS NULL OR kind = $2)", $condition)
    };
}

pub(in crate::deliveries) const BY_PLAYER: &str = listed!(" AND player_uuid = $3", "LIMIT $4 OFFSET $5");
pub(in crate::deliveries) const BY_STATE: &str = listed!(" AND state = $3", "LIMIT $4 OFFSET $5");
pub(in crate::deliveries) const BY_STATE_AND_PLAYER: &str =
    listed!(" AND player_uuid = $3 AND state = $4", "LIMIT $5 OFFSET $6");
pub(in crate::deliveries) const NEWEST: &str = listed!("", "LIMIT $3 OFFSET $4");

/// A page of the matching deliveries, newest first, and their number.
pub(in crate::deliveries) async fn list(
    db: &Db,
    network: NetworkId,
    filter: &DeliveryFilter,
    limit: i64,
    offset: i64,
) -> Result<(Vec<Delivery>, i64), Error> {
    let kind = filter.kind.as_deref();
    match (filter.player, filter.state.map(DeliveryState::as_str)) {
        (Some(player), Some(state)) => {
            let count = counted!(" AND player_uuid = $3 AND state = $4");
            let count = db.query(count).bind(network).bind(kind).bind(player).bind(state);
            let page = db.query(BY_STATE_AND_PLAYER).bind(network).bind(kind).bind(player).bind(state);
            fetch(count, page, limit, offset).await
        }
        (Some(player), None) => {
            let count = db.query(counted!(" AND player_uuid = $3")).bind(network).bind(kind).bind(player);
            let page = db.query(BY_PLAYER).bind(network).bind(kind).bind(player);
            fetch(count, page, limit, offset).await
        }
        (None, Some(state)) => {
            let count = db.query(counted!(" AND state = $3")).bind(network).bind(kind).bind(state);
            let page = db.query(BY_STATE).bind(network).bind(kind).bind(state);
            fetch(count, page, limit, offset).await
        }
        (None, None) => {
            let count = db.query(counted!("")).bind(network).bind(kind);
            fetch(count, db.query(NEWEST).bind(network).bind(kind), limit, offset).await
        }
    }
}

async fn fetch(
    count: hub_db::Statement<'_>,
    page: hub_db::Statement<'_>,
    limit: i64,
    offset: i64,
) -> Result<(Vec<Delivery>, i64), Error> {
    let (total,): (i64,) = count.one().await?;
    Ok((page.bind(limit).bind(offset).all().await?, total))
}
