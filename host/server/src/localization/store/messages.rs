//! Messages.

use hub_db::{Db, Error, Sql, Tx};

use crate::localization::model::{MessageKey, Namespace};
use crate::values::NetworkId;

/// Where messages are: a namespace in a locale.
#[derive(Clone, Debug)]
pub(in crate::localization) struct Place {
    pub(in crate::localization) namespace: Namespace,
    pub(in crate::localization) locale_key: String,
}

/// Defaults that plugins register, as one text that both databases read.
#[derive(Clone, Debug)]
pub(in crate::localization) struct Entries(String);

impl Entries {
    pub(in crate::localization) fn of<'a>(entries: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        // A list of pairs of texts always has a JSON.
        Self(serde_json::to_string(&entries.collect::<Vec<_>>()).unwrap_or_else(|_| "[]".to_owned()))
    }
}

/// What [`missing`] runs.
const MISSING: Sql = Sql {
    sqlite: "SELECT COUNT(*) FROM json_each($4) AS e WHERE NOT EXISTS (
                 SELECT 1 FROM localization_messages AS m
                 WHERE m.network_id = $1 AND m.namespace = $2 AND m.locale_key = $3
                   AND m.message_key = e.value ->> 0 AND m.default_text IS NOT NULL)",
    postgres: "SELECT COUNT(*) FROM jsonb_array_elements(CAST($4 AS JSONB)) AS e (pair) WHERE NOT EXISTS (
                   SELECT 1 FROM localization_messages AS m
                   WHERE m.network_id = $1 AND m.namespace = $2 AND m.locale_key = $3
                     AND m.message_key = e.pair ->> 0 AND m.default_text IS NOT NULL)",
};

/// How many of these have no default yet.
pub(in crate::localization) async fn missing(
    db: &Db,
    network: NetworkId,
    place: &Place,
    entries: &Entries,
) -> Result<i64, Error> {
    let (missing,): (i64,) = db
        .query(MISSING)
        .bind(network)
        .bind(place.namespace.clone())
        .bind(place.locale_key.clone())
        .bind(entries.0.clone())
        .one()
        .await?;
    Ok(missing)
}

/// What [`add_defaults`] runs. `WHERE TRUE` tells SQLite that `ON` is not a join's.
const ADD_DEFAULTS: Sql = Sql {
    sqlite: "INSERT INTO localization_messages (network_id, namespace, locale_key, message_key, default_text)
             SELECT $1, $2, $3, e.value ->> 0, e.value ->> 1 FROM json_each($4) AS e WHERE TRUE
             ON CONFLICT (network_id, namespace, locale_key, message_key)
             DO UPDATE SET default_text = excluded.default_text WHERE localization_messages.default_text IS NULL
             RETURNING override_text IS NULL",
    postgres: "INSERT INTO localization_messages (network_id, namespace, locale_key, message_key, default_text)
               SELECT $1, $2, $3, e.pair ->> 0, e.pair ->> 1 FROM jsonb_array_elements(CAST($4 AS JSONB)) AS e (pair)
               ON CONFLICT (network_id, namespace, locale_key, message_key)
               DO UPDATE SET default_text = excluded.default_text WHERE localization_messages.default_text IS NULL
               RETURNING override_text IS NULL",
};

/// Registers those that have no default yet; one answer for each of them, whether the default counts.
pub(in crate::localization) async fn add_defaults(
    tx: &mut Tx,
    network: NetworkId,
    place: &Place,
    entries: &Entries,
) -> Result<Vec<bool>, Error> {
    let added: Vec<(bool,)> = tx
        .query(ADD_DEFAULTS)
        .bind(network)
        .bind(place.namespace.clone())
        .bind(place.locale_key.clone())
        .bind(entries.0.clone())
        .all()
        .await?;
    Ok(added.into_iter().map(|(counts,)| counts).collect())
}

/// What the catalog says.
#[derive(sqlx::FromRow)]
pub(in crate::localization) struct EffectiveRow {
    pub(in crate::localization) namespace: String,
    pub(in crate::localization) locale_key: String,
    pub(in crate::localization) message_key: String,
    pub(in crate::localization) text: String,
}

const EFFECTIVE: &str = "SELECT namespace, locale_key, message_key, COALESCE(override_text, default_text) AS text
     FROM localization_messages WHERE network_id = $1 ORDER BY namespace, locale_key, message_key";

const EFFECTIVE_OF: Sql = Sql {
    sqlite: "SELECT namespace, locale_key, message_key, COALESCE(override_text, default_text) AS text
             FROM localization_messages
             WHERE network_id = $1 AND namespace IN (SELECT value FROM json_each($2))",
    postgres: "SELECT namespace, locale_key, message_key, COALESCE(override_text, default_text) AS text
               FROM localization_messages
               WHERE network_id = $1 AND namespace IN (SELECT jsonb_array_elements_text(CAST($2 AS JSONB)))",
};

/// All there is, by the name of the namespace; or what there is in some namespaces, in no order.
pub(in crate::localization) async fn effective(
    db: &Db,
    network: NetworkId,
    namespaces: Option<&[Namespace]>,
) -> Result<Vec<EffectiveRow>, Error> {
    let Some(namespaces) = namespaces else { return db.query(EFFECTIVE).bind(network).all().await };
    let names = serde_json::to_string(namespaces).unwrap_or_else(|_| "[]".to_owned());
    db.query(EFFECTIVE_OF).bind(network).bind(names).all().await
}

/// A message as it is written down.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(in crate::localization) struct MessageRow {
    pub(in crate::localization) namespace: Namespace,
    pub(in crate::localization) locale_key: String,
    pub(in crate::localization) message_key: MessageKey,
    pub(in crate::localization) default_text: Option<String>,
    pub(in crate::localization) override_text: Option<String>,
}

impl MessageRow {
    pub(in crate::localization) fn effective(&self) -> Option<&str> {
        self.override_text.as_deref().or(self.default_text.as_deref())
    }
}

pub(in crate::localization) async fn get(
    tx: &mut Tx,
    network: NetworkId,
    place: &Place,
    key: &MessageKey,
) -> Result<Option<MessageRow>, Error> {
    tx.query(
        "SELECT namespace, locale_key, message_key, default_text, override_text FROM localization_messages
         WHERE network_id = $1 AND namespace = $2 AND locale_key = $3 AND message_key = $4",
    )
    .bind(network)
    .bind(place.namespace.clone())
    .bind(place.locale_key.clone())
    .bind(key.clone())
    .optional()
    .await
}

/// Writes an override down.
pub(in crate::localization) async fn put_override(
    tx: &mut Tx,
    network: NetworkId,
    place: &Place,
    key: &MessageKey,
    text: &str,
) -> Result<MessageRow, Error> {
    tx.query(
        "INSERT INTO localization_messages (network_id, namespace, locale_key, message_key, override_text)
         VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (network_id, namespace, locale_key, message_key)
         DO UPDATE SET override_text = excluded.override_text
         RETURNING namespace, locale_key, message_key, default_text, override_text",
    )
    .bind(network)
    .bind(place.namespace.clone())
    .bind(place.locale_key.clone())
    .bind(key.clone())
    .bind(text.to_owned())
    .one()
    .await
}

/// Takes an override away, and the message with it where a plugin never registered one.
pub(in crate::localization) async fn drop_override(
    tx: &mut Tx,
    network: NetworkId,
    place: &Place,
    key: &MessageKey,
) -> Result<(), Error> {
    for sql in [
        "DELETE FROM localization_messages WHERE network_id = $1 AND namespace = $2 AND locale_key = $3
           AND message_key = $4 AND default_text IS NULL",
        "UPDATE localization_messages SET override_text = NULL WHERE network_id = $1 AND namespace = $2
           AND locale_key = $3 AND message_key = $4",
    ] {
        tx.query(sql)
            .bind(network)
            .bind(place.namespace.clone())
            .bind(place.locale_key.clone())
            .bind(key.clone())
            .execute()
            .await?;
    }
    Ok(())
}

/// Which messages an editor wants to see; what is none does not count.
#[derive(Clone, Debug, Default)]
pub(in crate::localization) struct Filter {
    pub(in crate::localization) namespace: Option<String>,
    pub(in crate::localization) locale_key: Option<String>,
    /// A part of the key or of what it says.
    pub(in crate::localization) search: Option<String>,
}

/// The rest of a statement that lists messages.
macro_rules! filtered {
    ($head:literal, $tail:literal) => {
        concat!(
            $head,
            " AND ($2 IS NULL OR namespace = $2) AND ($3 IS NULL OR locale_key = $3)
              AND ($4 IS NULL OR LOWER(message_key) LIKE $4 ESCAPE '\\'
                   OR LOWER(COALESCE(override_text, default_text)) LIKE $4 ESCAPE '\\')",
            $tail
        )
    };
}

const COUNT: &str = filtered!("SELECT COUNT(*) FROM localization_messages WHERE network_id = $1", "");
const LIST: &str = filtered!(
    "SELECT namespace, locale_key, message_key, default_text, override_text
     FROM localization_messages WHERE network_id = $1",
    " ORDER BY namespace, locale_key, message_key LIMIT $5 OFFSET $6"
);

/// The wanted messages, and how many there are.
pub(in crate::localization) async fn list(
    db: &Db,
    network: NetworkId,
    filter: &Filter,
    limit: i64,
    offset: i64,
) -> Result<(Vec<MessageRow>, i64), Error> {
    let search = filter.search.as_deref().map(like_pattern);
    let filtered = |sql: &'static str| {
        db.query(sql).bind(network).bind(filter.namespace.clone()).bind(filter.locale_key.clone()).bind(search.clone())
    };
    let (total,): (i64,) = filtered(COUNT).one().await?;
    Ok((filtered(LIST).bind(limit).bind(offset).all().await?, total))
}

/// The pattern that finds a text anywhere in a lower-case one. Both databases lower only ASCII here.
fn like_pattern(part: &str) -> String {
    let mut pattern = String::from("%");
    for character in part.chars().map(|character| character.to_ascii_lowercase()) {
        if matches!(character, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern + "%"
}
