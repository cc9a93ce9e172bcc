//! All SQL of the room.

use hub_db::{Db, Error, Sql, Tx};

use crate::auth::KeyId;
use crate::clock::Millis;
use crate::economy::amount::Amount;
use crate::economy::model::{Balance, Bounds, Change, Currency, Entry};
use crate::owner::Owner;
use crate::values::{Identifier, NetworkId};

/// What a balance comes to by `$5`: cut to the bounds of its currency. Before it is added, the amount is cut to what
/// keeps the sum an amount, so that nothing overflows on the way.
macro_rules! moved {
    ($least:literal, $most:literal) => {
        concat!(
            $most,
            "(lo, ",
            $least,
            "(hi, balance + ",
            $most,
            "(-9000000000000000000 - ",
            $least,
            "(balance, 0), ",
            $least,
            "($5, 9000000000000000000 - ",
            $most,
            "(balance, 0)))))"
        )
    };
}
macro_rules! change {
    ($least:literal, $most:literal) => {
        concat!(
            "WITH bounds AS (
                 SELECT COALESCE(minimum, -9000000000000000000) AS lo, COALESCE(maximum, 9000000000000000000) AS hi
                 FROM currencies WHERE network_id = $1 AND name = $4)
             UPDATE balances SET previous = balance, balance = ",
            moved!($least, $most),
            ", reached = CASE WHEN balance = ",
            moved!($least, $most),
            " THEN reached ELSE $6 END,
               last_entry = CASE WHEN last_entry < $6 THEN $6 ELSE last_entry + 1 END
             FROM bounds
             WHERE network_id = $1 AND owner_type = $2 AND owner_key = $3 AND currency = $4
             RETURNING previous, balance, last_entry"
        )
    };
}
const CHANGE: Sql = Sql { sqlite: change!("MIN", "MAX"), postgres: change!("LEAST", "GREATEST") };

/// A balance after a change.
#[derive(Clone, Copy, Debug, sqlx::FromRow)]
pub(super) struct Changed {
    previous: Amount,
    pub(super) balance: Amount,
    /// The number of the entry that tells of it.
    last_entry: i64,
}

/// Changes a balance at `moment`; none where the owner has none yet. The row is held until the transaction ends.
pub(super) async fn change(
    tx: &mut Tx,
    network: NetworkId,
    owner: &Owner,
    change: &Change,
    moment: i64,
) -> Result<Option<Changed>, Error> {
    tx.query(CHANGE)
        .bind(network)
        .bind(owner.owner_type().to_owned())
        .bind(owner.key().to_owned())
        .bind(change.currency.clone())
        .bind(change.asked)
        .bind(moment)
        .optional()
        .await
}

/// Begins a balance of a currency that is known. False where it is not, or where there is one already.
pub(super) async fn begin(
    tx: &mut Tx,
    network: NetworkId,
    owner: &Owner,
    currency: &Identifier,
    moment: i64,
) -> Result<bool, Error> {
    let rows = tx
        .query(
            "INSERT INTO balances (network_id, owner_type, owner_key, currency, balance, previous, reached, last_entry)
             SELECT $1, $2, $3, name, begins_at, begins_at, $5, 0 FROM currencies WHERE network_id = $1 AND name = $4
             ON CONFLICT (network_id, owner_type, owner_key, currency) DO NOTHING",
        )
        .bind(network)
        .bind(owner.owner_type().to_owned())
        .bind(owner.key().to_owned())
        .bind(currency.clone())
        .bind(moment)
        .execute()
        .await?;
    Ok(rows > 0)
}

pub(super) async fn log(
    tx: &mut Tx,
    network: NetworkId,
    owner: &Owner,
    change: &Change,
    changed: Changed,
    key: &KeyId,
    at: Millis,
) -> Result<(), Error> {
    tx.query(
        "INSERT INTO currency_ledger (network_id, owner_type, owner_key, currency, id, asked, balance_before, balance,
             reason, key_id, at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
    )
    .bind(network)
    .bind(owner.owner_type().to_owned())
    .bind(owner.key().to_owned())
    .bind(change.currency.clone())
    .bind(changed.last_entry)
    .bind(change.asked)
    .bind(changed.previous)
    .bind(changed.balance)
    .bind(change.reason.clone())
    .bind(key.clone())
    .bind(at)
    .execute()
    .await?;
    Ok(())
}

/// Defines a currency, or defines it anew.
pub(super) async fn define(db: &Db, network: NetworkId, name: &Identifier, bounds: &Bounds) -> Result<(), Error> {
    db.write(
        "INSERT INTO currencies (network_id, name, minimum, maximum, starting_balance, begins_at)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (network_id, name) DO UPDATE SET minimum = excluded.minimum, maximum = excluded.maximum,
             starting_balance = excluded.starting_balance, begins_at = excluded.begins_at",
    )
    .bind(network)
    .bind(name.clone())
    .bind(bounds.minimum)
    .bind(bounds.maximum)
    .bind(bounds.starting_balance)
    .bind(bounds.begins_at())
    .execute()
    .await?;
    Ok(())
}

/// Makes a currency that is used for the first time; one that is known stays as it is.
pub(super) async fn make(tx: &mut Tx, network: NetworkId, name: &Identifier, bounds: &Bounds) -> Result<(), Error> {
    tx.query(
        "INSERT INTO currencies (network_id, name, minimum, maximum, starting_balance, begins_at)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (network_id, name) DO NOTHING",
    )
    .bind(network)
    .bind(name.clone())
    .bind(bounds.minimum)
    .bind(bounds.maximum)
    .bind(bounds.starting_balance)
    .bind(bounds.begins_at())
    .execute()
    .await?;
    Ok(())
}

/// One page of the currencies by name, and how many there are.
pub(super) async fn currencies(
    db: &Db,
    network: NetworkId,
    limit: i64,
    offset: i64,
) -> Result<(Vec<Currency>, i64), Error> {
    let (total,): (i64,) =
        db.query("SELECT COUNT(*) FROM currencies WHERE network_id = $1").bind(network).one().await?;
    let rows = db
        .query(
            "SELECT name, minimum, maximum, starting_balance FROM currencies WHERE network_id = $1
             ORDER BY name LIMIT $2 OFFSET $3",
        )
        .bind(network)
        .bind(limit)
        .bind(offset)
        .all()
        .await?;
    Ok((rows, total))
}

/// What an owner has, and what they would begin with.
const BALANCES: &str = "SELECT currency AS currency_name, balance FROM balances
         WHERE network_id = $1 AND owner_type = $2 AND owner_key = $3
     UNION ALL
     SELECT c.name, c.begins_at FROM currencies c
         WHERE c.network_id = $1 AND c.begins_at <> 0 AND NOT EXISTS (
             SELECT b.balance FROM balances b
             WHERE b.network_id = $1 AND b.owner_type = $2 AND b.owner_key = $3 AND b.currency = c.name)";

/// What an owner has, by currency.
pub(super) async fn balances(db: &Db, network: NetworkId, owner: &Owner) -> Result<Vec<Balance>, Error> {
    let mut balances: Vec<Balance> =
        db.query(BALANCES).bind(network).bind(owner.owner_type().to_owned()).bind(owner.key().to_owned()).all().await?;
    balances.sort_by(|a, b| a.currency_name.cmp(&b.currency_name));
    Ok(balances)
}

/// What an owner has of a currency; none where there is no such currency.
pub(super) async fn balance(
    db: &Db,
    network: NetworkId,
    owner: &Owner,
    currency: &Identifier,
) -> Result<Option<Amount>, Error> {
    let row: Option<(Amount,)> = db
        .query(
            "SELECT COALESCE(b.balance, c.begins_at) FROM currencies c
             LEFT JOIN balances b
                 ON b.network_id = $1 AND b.owner_type = $2 AND b.owner_key = $3 AND b.currency = c.name
             WHERE c.network_id = $1 AND c.name = $4",
        )
        .bind(network)
        .bind(owner.owner_type().to_owned())
        .bind(owner.key().to_owned())
        .bind(currency.clone())
        .optional()
        .await?;
    Ok(row.map(|(balance,)| balance))
}

/// Who has most of a currency, the first before others with as much.
const TOP: &str = "SELECT owner_key, balance FROM balances
     WHERE network_id = $1 AND currency = $2 AND owner_type = $3
     ORDER BY balance DESC, reached, owner_key LIMIT $4";

/// The owners of a type who have most of a currency.
pub(super) async fn top(
    db: &Db,
    network: NetworkId,
    currency: &Identifier,
    owner_type: &str,
    limit: i64,
) -> Result<Vec<(String, Amount)>, Error> {
    db.query(TOP).bind(network).bind(currency.clone()).bind(owner_type.to_owned()).bind(limit).all().await
}

/// What [`ledger`] runs for one currency.
const LEDGER_OF: &str = "SELECT id, currency, asked, balance_before, balance, reason, key_id, at FROM currency_ledger
     WHERE network_id = $1 AND owner_type = $2 AND owner_key = $3 AND currency = $4
     ORDER BY id DESC LIMIT $5 OFFSET $6";
/// What [`ledger`] runs for all currencies.
const LEDGER: &str = "SELECT id, currency, asked, balance_before, balance, reason, key_id, at FROM currency_ledger
     WHERE network_id = $1 AND owner_type = $2 AND owner_key = $3
     ORDER BY id DESC, currency LIMIT $4 OFFSET $5";

/// One page of an owner's entries, of one currency or of all, newest first, and how many there are.
pub(super) async fn ledger(
    db: &Db,
    network: NetworkId,
    owner: &Owner,
    currency: Option<&Identifier>,
    limit: i64,
    offset: i64,
) -> Result<(Vec<Entry>, i64), Error> {
    let of = |sql: &'static str| {
        let statement = db.query(sql).bind(network).bind(owner.owner_type().to_owned()).bind(owner.key().to_owned());
        match currency {
            Some(currency) => statement.bind(currency.clone()),
            None => statement,
        }
    };
    let (count, page) = match currency {
        Some(_) => (
            "SELECT COUNT(*) FROM currency_ledger
             WHERE network_id = $1 AND owner_type = $2 AND owner_key = $3 AND currency = $4",
            LEDGER_OF,
        ),
        None => (
            "SELECT COUNT(*) FROM currency_ledger WHERE network_id = $1 AND owner_type = $2 AND owner_key = $3",
            LEDGER,
        ),
    };
    let (total,): (i64,) = of(count).one().await?;
    Ok((of(page).bind(limit).bind(offset).all().await?, total))
}

#[cfg(test)]
mod tests {
    use hub_db::Config;

    use super::*;

    #[tokio::test]
    async fn what_is_ordered_is_read_in_the_order_of_an_index() {
        let folder = tempfile::TempDir::new().unwrap();
        let db = Db::connect(&Config::Sqlite { path: folder.path().join("hub.db") }).await.unwrap();
        db.migrate().await.unwrap();
        for sql in [TOP, LEDGER_OF, BALANCES, LEDGER] {
            let explain: &'static str = format!("EXPLAIN QUERY PLAN {sql}").leak();
            let plan: Vec<(i64, i64, i64, String)> = db.query(explain).all().await.unwrap();
            let plan: Vec<_> = plan.into_iter().map(|(.., step)| step).collect();
            assert!(!plan.iter().any(|step| step.starts_with("SCAN") || step.contains("TEMP B-TREE")), "{plan:#?}");
        }
    }
}
