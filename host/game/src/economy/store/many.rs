//! SQL on many balances of one currency at once, for imports.

use std::collections::HashMap;

use hub_db::{Db, Error, Sql, Tx};

use crate::clock::Millis;
use crate::economy::amount::Amount;
use crate::economy::model::{AppliedChange, LedgerNote};
use crate::values::{Identifier, NetworkId};

/// Looks up each owner by the primary key: SQLite, which has no statistics, would read all of a currency for each batch.
const BALANCES_OF: Sql = Sql {
    sqlite: "SELECT b.owner_key, b.balance FROM json_each($4) AS owners CROSS JOIN balances b
             WHERE b.network_id = $1 AND b.owner_type = $2 AND b.owner_key = owners.value AND b.currency = $3",
    postgres: "SELECT found.owner_key, found.balance FROM jsonb_array_elements_text(CAST($4 AS JSONB)) AS owners (key)
               CROSS JOIN LATERAL (SELECT owner_key, balance FROM balances
                                   WHERE network_id = $1 AND owner_type = $2 AND owner_key = owners.key
                                     AND currency = $3 LIMIT 1) AS found",
};

fn json(value: &impl serde::Serialize) -> Result<String, Error> {
    serde_json::to_string(value).map_err(|error| sqlx::Error::Encode(error.into()).into())
}

/// Opened balances of these owners of a type, by their keys.
pub(in crate::economy) async fn balances_of(
    db: &Db,
    network: NetworkId,
    owner_type: &str,
    currency: &Identifier,
    keys: &[&str],
) -> Result<HashMap<String, Amount>, Error> {
    let query = db.query(BALANCES_OF).bind(network).bind(owner_type).bind(currency).bind(json(&keys)?);
    let rows: Vec<(String, Amount)> = query.all().await?;
    Ok(rows.into_iter().collect())
}

/// A change among many: the owner's key, the amount and the logical time.
pub(in crate::economy) type ManyChange<'c> = (&'c str, i64, i64);

const OPEN_MANY: Sql = Sql {
    sqlite: "INSERT INTO balances (network_id, owner_type, owner_key, currency, balance, previous, reached, last_entry)
             SELECT $1, $2, change.value ->> 0, c.name, c.begins_at, c.begins_at, change.value ->> 2, 0
             FROM currencies c CROSS JOIN json_each($4) AS change WHERE c.network_id = $1 AND c.name = $3
             ON CONFLICT (network_id, owner_type, owner_key, currency) DO NOTHING",
    postgres:
        "INSERT INTO balances (network_id, owner_type, owner_key, currency, balance, previous, reached, last_entry)
               SELECT $1, $2, change ->> 0, c.name, c.begins_at, c.begins_at, CAST(change ->> 2 AS BIGINT), 0
               FROM currencies c CROSS JOIN jsonb_array_elements(CAST($4 AS JSONB)) AS change
               WHERE c.network_id = $1 AND c.name = $3
               ON CONFLICT (network_id, owner_type, owner_key, currency) DO NOTHING",
};
macro_rules! apply_many {
    ($least:literal, $most:literal, $changes:literal, $joined:literal) => {
        concat!(
            "WITH change AS MATERIALIZED (",
            $changes,
            ") UPDATE balances SET previous = balance, balance = ",
            new_balance!($least, $most, "change.amount"),
            ", reached = CASE WHEN balance = ",
            new_balance!($least, $most, "change.amount"),
            " THEN reached ELSE change.at END,
               last_entry = CASE WHEN last_entry < change.at THEN change.at ELSE last_entry + 1 END
             FROM change,
                  (SELECT COALESCE(minimum, -9000000000000000000) AS lo, COALESCE(maximum, 9000000000000000000) AS hi
                   FROM currencies WHERE network_id = $1 AND name = $3) AS bounds
             WHERE ",
            $joined,
            " AND owner_key = change.owner RETURNING owner_key, previous, balance, last_entry"
        )
    };
}
/// SQLite's conditions are on the materialized changes alone, so that it looks up each by the primary key.
const APPLY_MANY: Sql = Sql {
    sqlite: apply_many!(
        "MIN",
        "MAX",
        // Crosses networks: it reads no table.
        "SELECT $1 AS network, $2 AS owner_type_of, $3 AS name_of, value ->> 0 AS owner, value ->> 1 AS amount,
             value ->> 2 AS at FROM json_each($4)",
        "network_id = change.network AND owner_type = change.owner_type_of AND currency = change.name_of"
    ),
    postgres: apply_many!(
        "LEAST",
        "GREATEST",
        // Crosses networks: it reads no table.
        "SELECT made ->> 0 AS owner, CAST(made ->> 1 AS BIGINT) AS amount, CAST(made ->> 2 AS BIGINT) AS at
         FROM jsonb_array_elements(CAST($4 AS JSONB)) AS made",
        "network_id = $1 AND owner_type = $2 AND currency = $3"
    ),
};

/// Opens the balances that are missing and changes each once. Returns the changes by the owners' keys.
pub(in crate::economy) async fn apply_many(
    tx: &mut Tx,
    network: NetworkId,
    owner_type: &str,
    currency: &Identifier,
    changes: &[ManyChange<'_>],
) -> Result<HashMap<String, AppliedChange>, Error> {
    #[derive(sqlx::FromRow)]
    struct Row {
        owner_key: String,
        #[sqlx(flatten)]
        applied: AppliedChange,
    }
    let changes = json(&changes)?;
    tx.query(OPEN_MANY).bind(network).bind(owner_type).bind(currency).bind(&changes).execute().await?;
    let rows: Vec<Row> =
        tx.query(APPLY_MANY).bind(network).bind(owner_type).bind(currency).bind(&changes).all().await?;
    Ok(rows.into_iter().map(|row| (row.owner_key, row.applied)).collect())
}

const APPEND_MANY: Sql = Sql {
    sqlite:
        "INSERT INTO currency_ledger (network_id, owner_type, owner_key, currency, id, asked, balance_before, balance,
                 reason, key_id, at)
             SELECT $1, $2, value ->> 0, $3, value ->> 1, value ->> 2, value ->> 3, value ->> 4, $5, $6, $7
             FROM json_each($4)",
    postgres: "INSERT INTO currency_ledger (network_id, owner_type, owner_key, currency, id, asked, balance_before,
                   balance, reason, key_id, at)
               SELECT $1, $2, made ->> 0, $3, CAST(made ->> 1 AS BIGINT), CAST(made ->> 2 AS BIGINT),
                   CAST(made ->> 3 AS BIGINT), CAST(made ->> 4 AS BIGINT), $5, $6, $7
               FROM jsonb_array_elements(CAST($4 AS JSONB)) AS made",
};

/// Writes changes of a type's owners to the ledger: key, id, asked amount, balance before and after.
pub(in crate::economy) async fn append_many(
    tx: &mut Tx,
    network: NetworkId,
    (owner_type, currency): (&str, &Identifier),
    entries: &[(&str, i64, i64, i64, i64)],
    note: &LedgerNote,
    now: Millis,
) -> Result<(), Error> {
    let append = tx.query(APPEND_MANY).bind(network).bind(owner_type).bind(currency).bind(json(&entries)?);
    append.bind(&note.reason).bind(&note.key).bind(now).execute().await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query_plan::query_plans;

    #[tokio::test]
    async fn balances_are_found_by_their_primary_key() {
        for plan in query_plans(&[BALANCES_OF.sqlite, APPLY_MANY.sqlite]).await {
            assert!(plan.iter().any(|step| step.contains("AND owner_key=? AND currency=?")), "{plan:#?}");
            assert!(!plan.iter().any(|step| step.contains("balances_by_rank")), "{plan:#?}");
        }
    }
}
