//! All SQL of the component.

use hub_db::{Db, Error, Executor, Sql, Statement, Tx};

use crate::clock::Millis;
use crate::economy::amount::Amount;
use crate::economy::model::{AppliedChange, Balance, BalanceChange, Bounds, Currency, LedgerNote, LedgerRow};
use crate::events::{EventKind, insert_event};
use crate::limits::{Limit, Rows};
use crate::owner::Owner;
use crate::values::{Identifier, NetworkId};

/// All balances of a network.
pub(super) const ALL_BALANCES: Rows = Rows::many(
    Limit::Balances,
    "SELECT COUNT(*) FROM (SELECT owner_key FROM balances WHERE network_id = $1 LIMIT $2) AS counted",
);

pub(super) async fn count_currencies(on: impl Into<Executor<'_>>, network: NetworkId) -> Result<i64, Error> {
    let (count,): (i64,) =
        on.into().query("SELECT COUNT(*) FROM currencies WHERE network_id = $1").bind(network).one().await?;
    Ok(count)
}

pub(super) async fn has_currency(db: &Db, network: NetworkId, name: &Identifier) -> Result<bool, Error> {
    let row: Option<(String,)> = db
        .query("SELECT name FROM currencies WHERE network_id = $1 AND name = $2")
        .bind(network)
        .bind(name)
        .optional()
        .await?;
    Ok(row.is_some())
}

/// Bounds of a currency; none if it does not exist.
pub(super) async fn bounds(db: &Db, network: NetworkId, name: &Identifier) -> Result<Option<Bounds>, Error> {
    db.query("SELECT minimum, maximum, starting_balance FROM currencies WHERE network_id = $1 AND name = $2")
        .bind(network)
        .bind(name)
        .optional()
        .await
}

/// True if the owner has opened a balance of the currency.
pub(super) async fn is_open(db: &Db, network: NetworkId, owner: &Owner, currency: &Identifier) -> Result<bool, Error> {
    let row: Option<(String,)> = db
        .query(
            "SELECT currency FROM balances
             WHERE network_id = $1 AND owner_type = $2 AND owner_key = $3 AND currency = $4",
        )
        .bind(network)
        .bind(owner.owner_type())
        .bind(owner.key())
        .bind(currency)
        .optional()
        .await?;
    Ok(row.is_some())
}

/// Balance after adding an amount, cut to the currency's bounds. The amount itself is cut first, so that the sum cannot
/// overflow.
macro_rules! new_balance {
    ($least:literal, $most:literal, $amount:literal) => {
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
            "(",
            $amount,
            ", 9000000000000000000 - ",
            $most,
            "(balance, 0)))))"
        )
    };
}
mod many;

pub(super) use many::{append_many, apply_many, balances_of};

macro_rules! apply_change {
    ($least:literal, $most:literal) => {
        concat!(
            "WITH bounds AS (
                 SELECT COALESCE(minimum, -9000000000000000000) AS lo, COALESCE(maximum, 9000000000000000000) AS hi
                 FROM currencies WHERE network_id = $1 AND name = $4)
             UPDATE balances SET previous = balance, balance = ",
            new_balance!($least, $most, "$5"),
            ", reached = CASE WHEN balance = ",
            new_balance!($least, $most, "$5"),
            " THEN reached ELSE $6 END,
               last_entry = CASE WHEN last_entry < $6 THEN $6 ELSE last_entry + 1 END
             FROM bounds
             WHERE network_id = $1 AND owner_type = $2 AND owner_key = $3 AND currency = $4
             RETURNING previous, balance, last_entry"
        )
    };
}
const APPLY_CHANGE: Sql = Sql { sqlite: apply_change!("MIN", "MAX"), postgres: apply_change!("LEAST", "GREATEST") };

/// Changes a balance at the logical time `at`; none if the owner has none yet. The row is locked until the transaction
/// ends.
pub(super) async fn apply_change(
    tx: &mut Tx,
    network: NetworkId,
    change: &BalanceChange,
    at: i64,
) -> Result<Option<AppliedChange>, Error> {
    tx.query(APPLY_CHANGE)
        .bind(network)
        .bind(change.owner.owner_type())
        .bind(change.owner.key())
        .bind(&change.currency)
        .bind(change.amount)
        .bind(at)
        .optional()
        .await
}

/// Maximum amount of an uncut change, so that its sum with any balance fits into 64 bits.
pub(super) const MAX_UNCUT: i64 = 200_000_000_000_000_000;

/// Adds `$5` unchanged if the result stays inside the bounds.
macro_rules! add_to_balance {
    () => {
        "UPDATE balances SET previous = balance, balance = balance + $5,
             reached = CASE WHEN $5 = 0 THEN reached ELSE $6 END,
             last_entry = CASE WHEN last_entry < $6 THEN $6 ELSE last_entry + 1 END
         FROM (SELECT COALESCE(minimum, -9000000000000000000) AS lo, COALESCE(maximum, 9000000000000000000) AS hi
               FROM currencies WHERE network_id = $1 AND name = $4) AS bounds
         WHERE network_id = $1 AND owner_type = $2 AND owner_key = $3 AND currency = $4
           AND balance + $5 BETWEEN lo AND hi"
    };
}
macro_rules! add_ledger_entry {
    ($from:literal) => {
        concat!(
            "INSERT INTO currency_ledger (network_id, owner_type, owner_key, currency, id, asked, balance_before, balance,
                 reason, key_id, at)
             SELECT $1, $2, $3, $4, last_entry, $5, previous, balance, $7, $8, $9 FROM ",
            $from
        )
    };
}
/// Closes the event's data, in which an amount is the shortest decimal.
macro_rules! event_data {
    ($decimal:literal) => {
        concat!("$11 || ',\"balance\":' || ", $decimal, " || ',\"ledgerId\":' || last_entry || '}'")
    };
}
/// Each of SQLite's statements has an effect only if the previous one had.
const CHANGE_UNCUT: Sql = Sql {
    sqlite: concat!(
        add_to_balance!(),
        "; ",
        add_ledger_entry!(
            "balances WHERE network_id = $1 AND owner_type = $2 AND owner_key = $3 AND currency = $4 AND changes() = 1
             RETURNING balance_before AS previous, balance, id AS last_entry, FALSE AS has_event"
        ),
        "; ",
        insert_event!(
            sqlite,
            "$10",
            "$9",
            event_data!(
                "CASE WHEN balance < 0 THEN '-' ELSE '' END || (ABS(balance) / 10000) || CASE WHEN balance % 10000 = 0
                 THEN '' ELSE '.' || RTRIM(SUBSTR('000' || (ABS(balance) % 10000), -4), '0') END"
            ),
            "balances WHERE network_id = $1 AND owner_type = $2 AND owner_key = $3 AND currency = $4 AND changes() = 1"
        ),
        " RETURNING 0 AS previous, 0 AS balance, 0 AS last_entry, TRUE AS has_event"
    ),
    postgres: concat!(
        "WITH changed AS (",
        // Part of the conditions on `network_id = $1`.
        add_to_balance!(),
        " RETURNING previous, balance, last_entry), entry AS (",
        add_ledger_entry!("changed"),
        "), event AS (",
        insert_event!(postgres, "$10", "$9", event_data!("TRIM_SCALE(CAST(balance AS NUMERIC) * 0.0001)"), "changed"),
        " RETURNING id)
         SELECT previous, balance, last_entry, EXISTS (SELECT id FROM event) AS has_event FROM changed"
    ),
};

/// Changes a balance at the logical time `at`, writes the change to the ledger and, if a stream subscribes to it, its
/// event: in one roundtrip to the database. `event` is the event's data except balance and ledger id, as [open
/// data](crate::events::open_data). Returns the change, and if there is an event; none if the owner has no such
/// balance yet or the change would be cut. Amounts are at most [`MAX_UNCUT`].
pub(super) async fn change_uncut(
    db: &Db,
    network: NetworkId,
    change: &BalanceChange,
    note: &LedgerNote,
    event: &str,
    at: i64,
    now: Millis,
) -> Result<Option<(AppliedChange, bool)>, Error> {
    #[derive(sqlx::FromRow)]
    struct Row {
        #[sqlx(flatten)]
        applied: AppliedChange,
        has_event: bool,
    }
    let rows: Vec<Row> = db
        .write_script(CHANGE_UNCUT)
        .bind(network)
        .bind(change.owner.owner_type())
        .bind(change.owner.key())
        .bind(&change.currency)
        .bind(change.amount)
        .bind(at)
        .bind(&note.reason)
        .bind(&note.key)
        .bind(now)
        .bind(EventKind::BalanceChanged.name())
        .bind(event)
        .all()
        .await?;
    let has_event = rows.iter().any(|row| row.has_event);
    Ok(rows.first().map(|row| (row.applied, has_event)))
}

/// Opens a balance of a known currency. False if the currency is unknown or the balance is already open.
pub(super) async fn open_balance(
    tx: &mut Tx,
    network: NetworkId,
    owner: &Owner,
    currency: &Identifier,
    at: i64,
) -> Result<bool, Error> {
    let rows = tx
        .query(
            "INSERT INTO balances (network_id, owner_type, owner_key, currency, balance, previous, reached, last_entry)
             SELECT $1, $2, $3, name, begins_at, begins_at, $5, 0 FROM currencies WHERE network_id = $1 AND name = $4
             ON CONFLICT (network_id, owner_type, owner_key, currency) DO NOTHING",
        )
        .bind(network)
        .bind(owner.owner_type())
        .bind(owner.key())
        .bind(currency)
        .bind(at)
        .execute()
        .await?;
    Ok(rows > 0)
}

pub(super) async fn append_to_ledger(
    tx: &mut Tx,
    network: NetworkId,
    change: &BalanceChange,
    applied: AppliedChange,
    note: &LedgerNote,
    now: Millis,
) -> Result<(), Error> {
    tx.query(
        "INSERT INTO currency_ledger (network_id, owner_type, owner_key, currency, id, asked, balance_before, balance,
             reason, key_id, at, transaction_id, amended)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
    )
    .bind(network)
    .bind(change.owner.owner_type())
    .bind(change.owner.key())
    .bind(&change.currency)
    .bind(applied.ledger_id)
    .bind(note.asked.unwrap_or(change.amount))
    .bind(applied.previous)
    .bind(applied.balance)
    .bind(&note.reason)
    .bind(&note.key)
    .bind(now)
    .bind(note.transaction)
    .bind(note.asked.map(|_| change.amount))
    .execute()
    .await?;
    Ok(())
}

macro_rules! insert_currency {
    ($on_conflict:literal) => {
        concat!(
            "INSERT INTO currencies (network_id, name, minimum, maximum, starting_balance, begins_at)
             VALUES ($1, $2, $3, $4, $5, $6)
             ON CONFLICT (network_id, name) ",
            $on_conflict
        )
    };
}

async fn insert_currency(
    statement: Statement<'_>,
    network: NetworkId,
    name: &Identifier,
    bounds: Bounds,
) -> Result<(), Error> {
    let statement = statement.bind(network).bind(name).bind(bounds.minimum).bind(bounds.maximum);
    statement.bind(bounds.starting_balance).bind(bounds.opening_balance()).execute().await?;
    Ok(())
}

/// Defines or redefines a currency.
pub(super) async fn define_currency(
    tx: &mut Tx,
    network: NetworkId,
    name: &Identifier,
    bounds: Bounds,
) -> Result<(), Error> {
    let statement = tx.query(insert_currency!(
        "DO UPDATE SET minimum = excluded.minimum, maximum = excluded.maximum,
             starting_balance = excluded.starting_balance, begins_at = excluded.begins_at"
    ));
    insert_currency(statement, network, name, bounds).await
}

/// Creates a currency on its first use; an existing one is unchanged.
pub(super) async fn create_currency(tx: &mut Tx, network: NetworkId, name: &Identifier) -> Result<(), Error> {
    insert_currency(tx.query(insert_currency!("DO NOTHING")), network, name, Bounds::undefined()).await
}

/// Returns an existing currency.
pub(super) async fn find_currency(
    tx: &mut Tx,
    network: NetworkId,
    name: &Identifier,
) -> Result<Option<Currency>, Error> {
    tx.query("SELECT name, minimum, maximum, starting_balance FROM currencies WHERE network_id = $1 AND name = $2")
        .bind(network)
        .bind(name)
        .optional()
        .await
}

/// The same, whose bounds no other request changes before the transaction ends.
pub(super) async fn lock_currency(
    tx: &mut Tx,
    network: NetworkId,
    name: &Identifier,
) -> Result<Option<Currency>, Error> {
    tx.query(
        "UPDATE currencies SET name = name WHERE network_id = $1 AND name = $2
         RETURNING name, minimum, maximum, starting_balance",
    )
    .bind(network)
    .bind(name)
    .optional()
    .await
}

/// Page of the currencies by name, and their number.
pub(super) async fn list_currencies(
    db: &Db,
    network: NetworkId,
    limit: i64,
    offset: i64,
) -> Result<(Vec<Currency>, i64), Error> {
    db.page(
        "SELECT COUNT(*) FROM currencies WHERE network_id = $1",
        "SELECT name, minimum, maximum, starting_balance FROM currencies WHERE network_id = $1
         ORDER BY name LIMIT $2 OFFSET $3",
        |statement| statement.bind(network),
        limit,
        offset,
    )
    .await
}

/// Balances of an owner of the network `$1`, and starting balances of currencies without a balance.
macro_rules! select_balances {
    ($owner_type:literal, $owner_key:literal) => {
        concat!(
            "SELECT currency AS currency_name, balance FROM balances
                 WHERE network_id = $1 AND owner_type = ",
            $owner_type,
            " AND owner_key = ",
            $owner_key,
            " UNION ALL
             SELECT c.name, c.begins_at FROM currencies c
                 WHERE c.network_id = $1 AND c.begins_at <> 0 AND NOT EXISTS (
                     SELECT b.balance FROM balances b
                     WHERE b.network_id = $1 AND b.currency = c.name AND b.owner_type = ",
            $owner_type,
            " AND b.owner_key = ",
            $owner_key,
            ")"
        )
    };
}

const BALANCES: &str = select_balances!("$2", "$3");

/// The same for a player, as a column for another component's statement, read by [`Balance::list_from_json`].
macro_rules! player_balances {
    (sqlite, $owner_key:literal) => {
        concat!(
            "(SELECT json_group_array(json_array(currency_name, balance)) FROM (",
            $crate::economy::select_balances!("'player'", $owner_key),
            "))"
        )
    };
    (postgres, $owner_key:literal) => {
        concat!(
            "(SELECT CAST(COALESCE(json_agg(json_build_array(currency_name, balance)), '[]') AS TEXT) FROM (",
            $crate::economy::select_balances!("'player'", $owner_key),
            ") AS of_player)"
        )
    };
}

pub(crate) use {player_balances, select_balances};

/// An owner's balances by currency.
pub(super) async fn balances(db: &Db, network: NetworkId, owner: &Owner) -> Result<Vec<Balance>, Error> {
    let mut balances: Vec<Balance> =
        db.query(BALANCES).bind(network).bind(owner.owner_type()).bind(owner.key()).all().await?;
    balances.sort_by(|a, b| a.currency_name.cmp(&b.currency_name));
    Ok(balances)
}

/// An owner's balance of a currency; none if the currency does not exist.
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
        .bind(owner.owner_type())
        .bind(owner.key())
        .bind(currency)
        .optional()
        .await?;
    Ok(row.map(|(balance,)| balance))
}

/// Equal balances rank in the order in which they were reached.
const LEADERBOARD: &str = "SELECT owner_key, balance FROM balances
     WHERE network_id = $1 AND currency = $2 AND owner_type = $3
     ORDER BY balance DESC, reached, owner_key LIMIT $4";

/// Owners of a type with the highest balances of a currency.
pub(super) async fn leaderboard(
    db: &Db,
    network: NetworkId,
    currency: &Identifier,
    owner_type: &str,
    limit: i64,
) -> Result<Vec<(String, Amount)>, Error> {
    db.query(LEADERBOARD).bind(network).bind(currency).bind(owner_type).bind(limit).all().await
}

const LEDGER_OF_CURRENCY: &str =
    "SELECT id, currency, asked, amended, balance_before, balance, reason, key_id, at, transaction_id FROM currency_ledger
     WHERE network_id = $1 AND owner_type = $2 AND owner_key = $3 AND currency = $4
     ORDER BY id DESC LIMIT $5 OFFSET $6";
const LEDGER: &str =
    "SELECT id, currency, asked, amended, balance_before, balance, reason, key_id, at, transaction_id FROM currency_ledger
     WHERE network_id = $1 AND owner_type = $2 AND owner_key = $3
     ORDER BY id DESC, currency LIMIT $4 OFFSET $5";

/// Page of an owner's ledger, of one currency or all, newest first, and the number of entries.
pub(super) async fn list_ledger(
    db: &Db,
    network: NetworkId,
    owner: &Owner,
    currency: Option<&Identifier>,
    limit: i64,
    offset: i64,
) -> Result<(Vec<LedgerRow>, i64), Error> {
    let (count, list) = match currency {
        Some(_) => (
            "SELECT COUNT(*) FROM currency_ledger
             WHERE network_id = $1 AND owner_type = $2 AND owner_key = $3 AND currency = $4",
            LEDGER_OF_CURRENCY,
        ),
        None => (
            "SELECT COUNT(*) FROM currency_ledger WHERE network_id = $1 AND owner_type = $2 AND owner_key = $3",
            LEDGER,
        ),
    };
    db.page(
        count,
        list,
        |statement| {
            let statement = statement.bind(network).bind(owner.owner_type()).bind(owner.key());
            currency.into_iter().fold(statement, Statement::bind)
        },
        limit,
        offset,
    )
    .await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query_plan::query_plans;

    #[tokio::test]
    async fn lists_are_read_in_the_order_of_an_index() {
        for plan in query_plans(&[LEADERBOARD, LEDGER_OF_CURRENCY, BALANCES, LEDGER]).await {
            assert!(!plan.iter().any(|step| step.starts_with("SCAN") || step.contains("TEMP B-TREE")), "{plan:#?}");
        }
    }

    #[tokio::test]
    async fn a_change_searches_by_primary_keys() {
        let plans = query_plans(&[add_to_balance!()]).await;
        assert!(plans.iter().flatten().all(|step| step.contains("USING PRIMARY KEY")), "{plans:#?}");
    }
}
