//! Reads and deletes the usage of hours.

use hub_db::{Db, Error, Sql};

use crate::clock::{Cutoff, Millis};
use crate::values::NetworkId;

/// An hour of a network.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct HourRow {
    pub network_id: NetworkId,
    pub hour: Millis,
    pub requests: i64,
    pub events: i64,
    pub module_calls: i64,
    pub module_micros: i64,
    pub fuel: i64,
    pub documents: i64,
    pub storage_bytes: i64,
    pub(crate) module_store_bytes: i64,
    pub file_bytes: i64,
    pub peak_players: i64,
    pub peak_servers: i64,
    pub peak_streams: i64,
}

macro_rules! select_hours {
    ($rest:literal) => {
        concat!(
            "SELECT network_id, hour, requests, events, module_calls, module_micros, fuel, documents, storage_bytes,
                 module_store_bytes, file_bytes, peak_players, peak_servers, peak_streams
             FROM usage_hours ",
            $rest
        )
    };
}

macro_rules! busiest {
    ($condition:literal) => {
        concat!(
            select_hours!(
                "WHERE hour = $1 AND network_id IN (
                 SELECT n.network_id FROM networks n JOIN plans p ON p.name = n.plan WHERE "
            ),
            $condition,
            ") ORDER BY requests DESC, network_id LIMIT $2"
        )
    };
}

const COUNT: &str = "SELECT COUNT(*) FROM usage_hours WHERE network_id = $1 AND hour > $2 AND hour < $3";
const PAGE: &str =
    select_hours!("WHERE network_id = $1 AND hour > $2 AND hour < $3 ORDER BY hour DESC LIMIT $4 OFFSET $5");

/// A network's hours that begin between `after` and `before`, newest first, and their number.
pub(in crate::metering) async fn page(
    db: &Db,
    network: NetworkId,
    after: Millis,
    before: Millis,
    limit: i64,
    offset: i64,
) -> Result<(Vec<HourRow>, i64), Error> {
    db.page(COUNT, PAGE, |statement| statement.bind(network).bind(after).bind(before), limit, offset).await
}

/// True if the network exists or existed.
pub(in crate::metering) async fn is_known(db: &Db, network: NetworkId) -> Result<bool, Error> {
    let sql = "SELECT (SELECT COUNT(*) FROM networks WHERE network_id = $1)
                    + (SELECT COUNT(*) FROM network_deletions WHERE network_id = $1)";
    let (rows,): (i64,) = db.query(sql).bind(network).one().await?;
    Ok(rows > 0)
}

/// A network's usage over several hours; the maximum of storage and peaks.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct TotalRow {
    pub network_id: NetworkId,
    pub name: Option<String>,
    pub requests: i64,
    pub events: i64,
    pub module_calls: i64,
    pub module_micros: i64,
    pub fuel: i64,
    pub storage_bytes: i64,
    pub file_bytes: i64,
    pub peak_players: i64,
    pub peak_servers: i64,
    pub peak_streams: i64,
}

/// Usage of each network in these hours, by name.
pub(in crate::metering) async fn totals(db: &Db, after: Millis, before: Millis) -> Result<Vec<TotalRow>, Error> {
    // Crosses networks: the operator's summary.
    db.query(
        "SELECT u.network_id, MAX(COALESCE(n.name, d.name)) AS name, CAST(SUM(u.requests) AS BIGINT) AS requests,
             CAST(SUM(u.events) AS BIGINT) AS events, CAST(SUM(u.module_calls) AS BIGINT) AS module_calls,
             CAST(SUM(u.module_micros) AS BIGINT) AS module_micros, CAST(SUM(u.fuel) AS BIGINT) AS fuel,
             MAX(u.storage_bytes) AS storage_bytes, MAX(u.file_bytes) AS file_bytes,
             MAX(u.peak_players) AS peak_players, MAX(u.peak_servers) AS peak_servers,
             MAX(u.peak_streams) AS peak_streams
         FROM usage_hours u LEFT JOIN networks n ON n.network_id = u.network_id
         LEFT JOIN network_deletions d ON d.network_id = u.network_id
         WHERE u.hour > $1 AND u.hour < $2 GROUP BY u.network_id ORDER BY name, u.network_id",
    )
    .bind(after)
    .bind(before)
    .readable()
    .await
}

const NEXT: &str = select_hours!(
    "WHERE (hour = $1 AND network_id > $2 OR hour > $1) AND hour >= $1 AND hour < $3
     ORDER BY hour, network_id LIMIT $4"
);

/// Rows after a position, of hours before `before`, in the order of hours and networks.
pub(in crate::metering) async fn next(
    db: &Db,
    hour: Millis,
    network: NetworkId,
    before: Millis,
    limit: i64,
) -> Result<Vec<HourRow>, Error> {
    // Crosses networks: reports are the operator's.
    db.query(NEXT).bind(hour).bind(network).bind(before).bind(limit).readable().await
}

/// An hour of the networks with the most requests, among those with `networkMetrics` in their plan.
pub(in crate::metering) async fn busiest(db: &Db, hour: Millis, most: i64) -> Result<Vec<HourRow>, Error> {
    // Crosses networks: the operator's metrics.
    db.query(Sql {
        sqlite: busiest!("p.limits ->> 'networkMetrics' = 1"),
        postgres: busiest!("CAST(p.limits AS JSONB) ->> 'networkMetrics' = '1'"),
    })
    .bind(hour)
    .bind(most)
    .readable()
    .await
}

/// Next network with hours.
pub(in crate::metering) async fn next_network(db: &Db, after: NetworkId) -> Result<Option<NetworkId>, Error> {
    // Crosses networks: one loop serves all.
    let sql = "SELECT network_id FROM usage_hours WHERE network_id > $1 ORDER BY network_id LIMIT 1";
    Ok(db.query(sql).bind(after).optional().await?.map(|(network,)| network))
}

/// Deletes at most `limit` hours of a network before `before`. Returns their number.
pub(in crate::metering) async fn delete(db: &Db, network: NetworkId, before: Cutoff, limit: i64) -> Result<u64, Error> {
    db.write(
        "DELETE FROM usage_hours WHERE network_id = $1 AND hour IN (
             SELECT hour FROM usage_hours WHERE network_id = $1 AND hour < $2 ORDER BY hour LIMIT $3)",
    )
    .bind(network)
    .bind(before.at())
    .bind(limit)
    .execute()
    .await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query_plan::query_plans;

    #[tokio::test]
    async fn hours_are_read_from_their_indexes() {
        for (statement, plan) in [COUNT, PAGE, NEXT].iter().zip(query_plans(&[COUNT, PAGE, NEXT]).await) {
            let searches = plan.iter().all(|step| step.starts_with("SEARCH usage_hours USING"));
            assert!(searches && plan.len() == 1, "{statement}: {plan:?}");
        }
    }
}
