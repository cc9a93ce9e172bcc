//! Players' languages.

use hub_db::{Db, Error};

use crate::limits::{Limit, Rows};
use crate::localization::LocaleCode;
use crate::players::language::{Language, Source};
use crate::values::{NetworkId, PlayerId};

/// All players of a network with a stored language.
pub(crate) const PLAYER_LANGUAGES: Rows = Rows::many(
    Limit::PlayerLanguages,
    "SELECT COUNT(*) FROM (SELECT player_uuid FROM player_languages WHERE network_id = $1 LIMIT $2) AS counted",
);

pub(crate) async fn exists(db: &Db, network: NetworkId, player: PlayerId) -> Result<bool, Error> {
    let row: Option<(PlayerId,)> = db
        .query("SELECT player_uuid FROM player_languages WHERE network_id = $1 AND player_uuid = $2")
        .bind(network)
        .bind(player)
        .optional()
        .await?;
    Ok(row.is_some())
}

#[derive(sqlx::FromRow)]
struct LanguageRow {
    locale: LocaleCode,
    #[sqlx(try_from = "String")]
    source: Source,
}

pub(crate) async fn get(db: &Db, network: NetworkId, player: PlayerId) -> Result<Language, Error> {
    let row: Option<LanguageRow> = db
        .query(
            "SELECT locale, source FROM player_languages
             WHERE network_id = $1 AND player_uuid = $2 AND locale IS NOT NULL",
        )
        .bind(network)
        .bind(player)
        .optional()
        .await?;
    Ok(row.map(|row| (row.locale, row.source)))
}

/// Stores or unsets a language; the name only if given.
pub(crate) async fn put(
    db: &Db,
    network: NetworkId,
    player: PlayerId,
    username: Option<&str>,
    language: &Language,
) -> Result<(), Error> {
    let (locale, source) = language.as_ref().map(|(locale, source)| (locale, <&str>::from(source))).unzip();
    db.write(
        "INSERT INTO player_languages (network_id, player_uuid, username, locale, source) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (network_id, player_uuid) DO UPDATE SET
             username = COALESCE(excluded.username, player_languages.username), locale = excluded.locale,
             source = excluded.source",
    )
    .bind(network)
    .bind(player)
    .bind(username)
    .bind(locale)
    .bind(source)
    .execute()
    .await?;
    Ok(())
}
