//! Messages.

use hub_db::{Db, Error, Sql, Tx};

use crate::limits::{Limit, Rows};
use crate::localization::model::{MessageKey, Namespace};
use crate::values::{NetworkId, like_pattern};

/// Messages of a namespace in a locale.
#[derive(Clone, Debug)]
pub(crate) struct MessageScope<'a> {
    pub namespace: &'a Namespace,
    pub(crate) locale_key: String,
}

/// All messages of a network, in each locale.
pub(crate) const MESSAGES: Rows =
    Rows::few(Limit::Messages, "SELECT COUNT(*) FROM localization_messages WHERE network_id = $1");

/// Size of all messages of a network as JSON, in bytes.
pub(crate) const CATALOG_BYTES: Rows = Rows {
    limit: Limit::CatalogBytes,
    sql: Sql {
        sqlite: "SELECT CAST(COALESCE(SUM(8 + octet_length(json_quote(message_key))
                     + octet_length(COALESCE(json_quote(default_text), ''))
                     + octet_length(COALESCE(json_quote(override_text), ''))), 0) AS BIGINT)
                 FROM localization_messages WHERE network_id = $1",
        postgres: "SELECT CAST(COALESCE(SUM(8 + octet_length(CAST(to_json(message_key) AS TEXT))
                       + octet_length(COALESCE(CAST(to_json(default_text) AS TEXT), ''))
                       + octet_length(COALESCE(CAST(to_json(override_text) AS TEXT), ''))), 0) AS BIGINT)
                   FROM localization_messages WHERE network_id = $1",
    },
    are_few: true,
};

/// Default texts by key, as one JSON text for both databases.
#[derive(Clone, Debug)]
pub(crate) struct DefaultsJson(String);

impl DefaultsJson {
    pub(crate) fn from_pairs<'a>(entries: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        Self(to_json(&entries.collect::<Vec<_>>()))
    }

    /// Maximum number of bytes added to the catalog.
    pub(crate) fn bytes(&self) -> i64 {
        self.0.len() as i64
    }
}

/// Lists of texts can always be serialized.
fn to_json(list: &impl serde::Serialize) -> String {
    serde_json::to_string(list).unwrap_or_else(|_| "[]".to_owned())
}

const COUNT_MISSING: Sql = Sql {
    sqlite: "SELECT COUNT(*) FROM json_each($4) AS e WHERE NOT EXISTS (
                 SELECT 1 FROM localization_messages AS m
                 WHERE m.network_id = $1 AND m.namespace = $2 AND m.locale_key = $3
                   AND m.message_key = e.value ->> 0 AND m.default_text IS NOT NULL)",
    postgres: "SELECT COUNT(*) FROM jsonb_array_elements(CAST($4 AS JSONB)) AS e (pair) WHERE NOT EXISTS (
                   SELECT 1 FROM localization_messages AS m
                   WHERE m.network_id = $1 AND m.namespace = $2 AND m.locale_key = $3
                     AND m.message_key = e.pair ->> 0 AND m.default_text IS NOT NULL)",
};

/// Number of these without a default.
pub(crate) async fn count_missing(
    db: &Db,
    network: NetworkId,
    scope: &MessageScope<'_>,
    defaults: &DefaultsJson,
) -> Result<i64, Error> {
    let (missing,): (i64,) = db
        .query(COUNT_MISSING)
        .bind(network)
        .bind(scope.namespace)
        .bind(&scope.locale_key)
        .bind(&defaults.0)
        .one()
        .await?;
    Ok(missing)
}

/// Stored size of all messages of a namespace in a locale.
pub(crate) async fn stored_bytes(db: &Db, network: NetworkId, scope: &MessageScope<'_>) -> Result<i64, Error> {
    let (bytes,): (i64,) = db
        .query(
            "SELECT CAST(COALESCE(SUM(64 + octet_length(namespace) + octet_length(locale_key) + octet_length(message_key)
                 + COALESCE(octet_length(default_text), 0) + COALESCE(octet_length(override_text), 0)), 0) AS BIGINT)
             FROM localization_messages WHERE network_id = $1 AND namespace = $2 AND locale_key = $3",
        )
        .bind(network)
        .bind(scope.namespace)
        .bind(&scope.locale_key)
        .one()
        .await?;
    Ok(bytes)
}

/// Stored size of one message; 0 if missing.
pub(crate) async fn message_bytes(
    db: &Db,
    network: NetworkId,
    scope: &MessageScope<'_>,
    key: &MessageKey,
) -> Result<i64, Error> {
    let row: Option<(i64,)> = db
        .query(
            "SELECT CAST(64 + octet_length(namespace) + octet_length(locale_key) + octet_length(message_key)
                 + COALESCE(octet_length(default_text), 0) + COALESCE(octet_length(override_text), 0) AS BIGINT)
             FROM localization_messages
             WHERE network_id = $1 AND namespace = $2 AND locale_key = $3 AND message_key = $4",
        )
        .bind(network)
        .bind(scope.namespace)
        .bind(&scope.locale_key)
        .bind(key)
        .optional()
        .await?;
    Ok(row.map_or(0, |(bytes,)| bytes))
}

/// `WHERE TRUE` tells SQLite that `ON` does not belong to a join.
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

/// Registers those without a default. Returns for each of them if it has no override.
pub(crate) async fn add_defaults(
    tx: &mut Tx,
    network: NetworkId,
    scope: &MessageScope<'_>,
    defaults: &DefaultsJson,
) -> Result<Vec<bool>, Error> {
    let added: Vec<(bool,)> = tx
        .query(ADD_DEFAULTS)
        .bind(network)
        .bind(scope.namespace)
        .bind(&scope.locale_key)
        .bind(&defaults.0)
        .all()
        .await?;
    Ok(added.into_iter().map(|(counts,)| counts).collect())
}

/// Text of a message in the catalog.
#[derive(sqlx::FromRow)]
pub(crate) struct EffectiveRow {
    pub namespace: String,
    pub(crate) locale_key: String,
    pub(crate) message_key: String,
    pub text: String,
}

const EFFECTIVE: &str = "SELECT namespace, locale_key, message_key, COALESCE(override_text, default_text) AS text
     FROM localization_messages WHERE network_id = $1 ORDER BY namespace, locale_key, message_key";

const EFFECTIVE_IN: Sql = Sql {
    sqlite: "SELECT namespace, locale_key, message_key, COALESCE(override_text, default_text) AS text
             FROM localization_messages
             WHERE network_id = $1 AND namespace IN (SELECT value FROM json_each($2))",
    postgres: "SELECT namespace, locale_key, message_key, COALESCE(override_text, default_text) AS text
               FROM localization_messages
               WHERE network_id = $1 AND namespace IN (SELECT jsonb_array_elements_text(CAST($2 AS JSONB)))",
};

/// All texts ordered by namespace, or those of some namespaces, unordered.
pub(crate) async fn effective(
    db: &Db,
    network: NetworkId,
    namespaces: Option<&[Namespace]>,
) -> Result<Vec<EffectiveRow>, Error> {
    let Some(namespaces) = namespaces else { return db.query(EFFECTIVE).bind(network).all().await };
    db.query(EFFECTIVE_IN).bind(network).bind(to_json(&namespaces)).all().await
}

/// Message as stored.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(crate) struct MessageRow {
    pub namespace: Namespace,
    pub(crate) locale_key: String,
    pub(crate) message_key: MessageKey,
    pub(crate) default_text: Option<String>,
    pub(crate) override_text: Option<String>,
}

impl MessageRow {
    pub(crate) fn effective(&self) -> Option<&str> {
        self.override_text.as_deref().or(self.default_text.as_deref())
    }
}

pub(crate) async fn get(
    tx: &mut Tx,
    network: NetworkId,
    scope: &MessageScope<'_>,
    key: &MessageKey,
) -> Result<Option<MessageRow>, Error> {
    tx.query(
        "SELECT namespace, locale_key, message_key, default_text, override_text FROM localization_messages
         WHERE network_id = $1 AND namespace = $2 AND locale_key = $3 AND message_key = $4",
    )
    .bind(network)
    .bind(scope.namespace)
    .bind(&scope.locale_key)
    .bind(key)
    .optional()
    .await
}

/// Override of a message: empty without one, none if the message does not exist.
pub(crate) async fn overridden(
    db: &Db,
    network: NetworkId,
    scope: &MessageScope<'_>,
    key: &MessageKey,
) -> Result<Option<String>, Error> {
    let row: Option<(String,)> = db
        .query(
            "SELECT COALESCE(override_text, '') FROM localization_messages
             WHERE network_id = $1 AND namespace = $2 AND locale_key = $3 AND message_key = $4",
        )
        .bind(network)
        .bind(scope.namespace)
        .bind(&scope.locale_key)
        .bind(key)
        .optional()
        .await?;
    Ok(row.map(|(text,)| text))
}

pub(crate) async fn put_override(
    tx: &mut Tx,
    network: NetworkId,
    scope: &MessageScope<'_>,
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
    .bind(scope.namespace)
    .bind(&scope.locale_key)
    .bind(key)
    .bind(text)
    .one()
    .await
}

/// Deletes an override, and the message if it has no default.
pub(crate) async fn delete_override(
    tx: &mut Tx,
    network: NetworkId,
    scope: &MessageScope<'_>,
    key: &MessageKey,
) -> Result<(), Error> {
    for sql in [
        "DELETE FROM localization_messages WHERE network_id = $1 AND namespace = $2 AND locale_key = $3
           AND message_key = $4 AND default_text IS NULL",
        "UPDATE localization_messages SET override_text = NULL WHERE network_id = $1 AND namespace = $2
           AND locale_key = $3 AND message_key = $4",
    ] {
        tx.query(sql).bind(network).bind(scope.namespace).bind(&scope.locale_key).bind(key).execute().await?;
    }
    Ok(())
}

/// Filter of messages; absent fields are ignored.
#[derive(Clone, Debug)]
pub(crate) struct MessageFilter {
    pub namespace: Option<Namespace>,
    pub(crate) locale_key: Option<String>,
    /// Part of the key or text.
    pub search: Option<String>,
}

/// Statement on the messages of a [`MessageFilter`].
macro_rules! filtered {
    ($select:literal, $order:literal) => {
        concat!(
            $select,
            " AND ($2 IS NULL OR namespace = $2) AND ($3 IS NULL OR locale_key = $3)
                AND ($4 IS NULL OR LOWER(message_key) LIKE $4 ESCAPE '\\'
                     OR LOWER(COALESCE(override_text, default_text)) LIKE $4 ESCAPE '\\')",
            $order
        )
    };
}

/// Page of the filtered messages, and their number.
pub(crate) async fn list(
    db: &Db,
    network: NetworkId,
    filter: &MessageFilter,
    limit: i64,
    offset: i64,
) -> Result<(Vec<MessageRow>, i64), Error> {
    // Both databases only lower ASCII.
    let search = filter.search.as_deref().map(|part| like_pattern(&part.to_ascii_lowercase()));
    db.page(
        filtered!("SELECT COUNT(*) FROM localization_messages WHERE network_id = $1", ""),
        filtered!(
            "SELECT namespace, locale_key, message_key, default_text, override_text FROM localization_messages
             WHERE network_id = $1",
            " ORDER BY namespace, locale_key, message_key LIMIT $5 OFFSET $6"
        ),
        |statement| statement.bind(network).bind(&filter.namespace).bind(&filter.locale_key).bind(&search),
        limit,
        offset,
    )
    .await
}
