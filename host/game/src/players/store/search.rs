//! The list of players, most recently seen first. Each way to search has its own statements, each with its index.

use hub_db::{Backend, Db, Error, Sql, Statement};

use crate::geo::Region;
use crate::players::model::{Player, PlayerFilter, fold_case};
use crate::values::{NetworkId, like_pattern};

/// Minimum length for the trigram indexes.
const TRIGRAM: usize = 3;
/// Maximum length of a name.
const MAX_NAME: usize = 255;

/// Statements that count the matching players and list a page of them.
struct Queries {
    count: Sql,
    list: Sql,
}

macro_rules! count {
    ($rest:literal) => {
        concat!("SELECT COUNT(*) FROM players p WHERE p.network_id = $1", $rest)
    };
}
macro_rules! list {
    ($rest:literal, $order:literal, $limit:literal) => {
        concat!(
            "SELECT p.player_uuid, p.username, p.game_type, p.region, p.country, p.first_seen, p.last_seen
             FROM players p WHERE p.network_id = $1",
            $rest,
            " ORDER BY ",
            $order,
            " DESC, p.player_uuid LIMIT ",
            $limit
        )
    };
}
macro_rules! queries {
    ($rest:literal, $order:literal, $limit:literal) => {
        Queries {
            count: Sql { sqlite: count!($rest), postgres: count!($rest) },
            list: Sql { sqlite: list!($rest, $order, $limit), postgres: list!($rest, $order, $limit) },
        }
    };
}

const ALL: Queries = queries!("", "p.last_seen", "$2 OFFSET $3");
const BY_REGION: Queries = queries!(" AND p.region = $2", "p.last_seen", "$3 OFFSET $4");
/// The plus keeps both databases from walking all players in the order of `last_seen`; the few of the name are sorted.
const BY_NAME: Queries = queries!(
    " AND p.username_folded = $2 AND ($3 IS NULL OR p.region = $3)
      AND ($4 IS NULL OR p.username_folded LIKE $4 ESCAPE '\\')",
    "+p.last_seen",
    "$5 OFFSET $6"
);
/// Players of a network with a part of the name. The index has the rows of a network side by side: those of others are
/// not read.
macro_rules! by_part {
    ($columns:literal, $after:literal) => {
        concat!(
            "SELECT ",
            $columns,
            " FROM players p WHERE +p.network_id = $1
               AND p.number IN (
                   SELECT s.rowid & 4294967295 FROM network_player_search s WHERE s.network_player_search MATCH $2
                     AND s.rowid BETWEEN
                         COALESCE((SELECT number FROM player_search_networks WHERE network_id = $1), -1) * 4294967296
                         AND COALESCE((SELECT number FROM player_search_networks WHERE network_id = $1), -1) * 4294967296
                             + 4294967295)
               AND ($3 IS NULL OR +p.region = $3)",
            $after
        )
    };
}
/// Both databases start at the few matching names: the pluses keep them from using the network's other indexes.
const BY_PART: Queries = Queries {
    count: Sql {
        sqlite: by_part!("COUNT(*)", ""),
        postgres: count!(" AND p.username_folded LIKE $2 AND ($3 IS NULL OR p.region = $3)"),
    },
    list: Sql {
        sqlite: by_part!(
            "p.player_uuid, p.username, p.game_type, p.region, p.country, p.first_seen, p.last_seen",
            " ORDER BY p.last_seen DESC, p.player_uuid LIMIT $4 OFFSET $5"
        ),
        postgres: list!(
            " AND p.username_folded LIKE $2 AND ($3 IS NULL OR p.region = $3)",
            "+p.last_seen",
            "$4 OFFSET $5"
        ),
    },
};
/// No index covers a shorter part: it is searched among the 10,000 players seen last.
const BY_SHORT_PART: Queries = {
    let count = "SELECT COUNT(*) FROM (SELECT username_folded, region FROM players WHERE network_id = $1
                     ORDER BY last_seen DESC, player_uuid LIMIT 10000) p
                 WHERE p.username_folded LIKE $2 ESCAPE '\\' AND ($3 IS NULL OR p.region = $3)";
    let list = "SELECT p.player_uuid, p.username, p.game_type, p.region, p.country, p.first_seen, p.last_seen
                FROM (SELECT player_uuid, username, username_folded, game_type, region, country, first_seen, last_seen
                    FROM players WHERE network_id = $1
                    ORDER BY last_seen DESC, player_uuid LIMIT 10000) p
                WHERE p.username_folded LIKE $2 ESCAPE '\\' AND ($3 IS NULL OR p.region = $3)
                ORDER BY p.last_seen DESC, p.player_uuid LIMIT $4 OFFSET $5";
    Queries { count: Sql { sqlite: count, postgres: count }, list: Sql { sqlite: list, postgres: list } }
};

/// A page of the matching players, and their number.
pub(in crate::players) async fn list(
    db: &Db,
    network: NetworkId,
    filter: &PlayerFilter,
    limit: i64,
    offset: i64,
) -> Result<(Vec<Player>, i64), Error> {
    let name = filter.username.as_deref().map(fold_case);
    let part = filter.name_part.as_deref().map(fold_case);
    let length = |text: &String| text.chars().count();
    if part.as_ref().is_some_and(|part| length(part) > MAX_NAME) {
        return Ok((vec![], 0));
    }
    let region = filter.region.as_ref().map(Region::as_str);
    let pattern = part.as_deref().map(like_pattern);
    let phrase = part.as_deref().map(match_phrase);
    let (name, pattern, phrase) = (name.as_deref(), pattern.as_deref(), phrase.as_deref());
    let (queries, values) = match (name, &part, region) {
        (Some(_), _, _) => (BY_NAME, vec![name, region, pattern]),
        (None, Some(part), _) if length(part) < TRIGRAM => (BY_SHORT_PART, vec![pattern, region]),
        (None, Some(_), _) if db.backend() == Backend::Sqlite => (BY_PART, vec![phrase, region]),
        (None, Some(_), _) => (BY_PART, vec![pattern, region]),
        (None, None, Some(_)) => (BY_REGION, vec![region]),
        (None, None, None) => (ALL, vec![]),
    };
    let Queries { count, list } = queries;
    db.page(count, list, |statement| values.iter().fold(statement.bind(network), Statement::bind), limit, offset).await
}

/// Phrase for SQLite's text search, which takes a quoted text literally.
fn match_phrase(part: &str) -> String {
    format!("\"{}\"", part.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query_plan::query_plans;

    #[tokio::test]
    async fn each_search_uses_its_index() {
        for (queries, index) in [
            (ALL, "(network_id=?)"),
            (BY_REGION, "players_by_region (network_id=? AND region=?)"),
            (BY_NAME, "players_by_username (network_id=? AND username_folded=?)"),
            (BY_PART, "INTEGER PRIMARY KEY (rowid=?)"),
            (BY_SHORT_PART, "players_by_last_seen (network_id=?)"),
        ] {
            for plan in query_plans(&[queries.count.sqlite, queries.list.sqlite]).await {
                assert!(plan.iter().any(|step| step.contains(index)), "{index}: {plan:#?}");
                assert!(!plan.iter().any(|step| step.starts_with("SCAN players")), "{plan:#?}");
            }
        }
    }

    /// `><` is a range of rows: those of the network.
    #[tokio::test]
    async fn a_part_is_searched_in_the_rows_of_one_network() {
        for plan in query_plans(&[BY_PART.count.sqlite, BY_PART.list.sqlite]).await {
            let search = plan.iter().find(|step| step.contains("SCAN s VIRTUAL TABLE")).unwrap();
            assert!(search.contains("><"), "{plan:#?}");
        }
    }

    #[test]
    fn a_part_is_taken_literally() {
        assert_eq!(like_pattern(r"50%_\ö"), r"%50\%\_\\ö%");
        assert_eq!(match_phrase(r#"a"b*"#), r#""a""b*""#);
    }
}
