//! The list of players, most recently seen first. One way through it for each way of asking, each with the index it
//! needs.

use hub_db::{Backend, Db, Error, Sql, Statement};

use crate::players::model::{Player, Search, folded};
use crate::values::NetworkId;

/// The trigram indexes find nothing shorter.
const TRIGRAM: usize = 3;
/// No name is longer.
const LONGEST: usize = 255;

/// How many rows there are, and one page of them.
type Texts = (Sql, Sql);

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
macro_rules! texts {
    ($rest:literal, $order:literal, $limit:literal) => {
        (
            Sql { sqlite: count!($rest), postgres: count!($rest) },
            Sql { sqlite: list!($rest, $order, $limit), postgres: list!($rest, $order, $limit) },
        )
    };
}

const ALL: Texts = texts!("", "p.last_seen", "$2 OFFSET $3");
const OF_REGION: Texts = texts!(" AND p.region = $2", "p.last_seen", "$3 OFFSET $4");
/// The plus keeps both databases from going through all players in their order: the few of the name are sorted.
const NAMED: Texts = texts!(
    " AND p.username_folded = $2 AND ($3 IS NULL OR p.region = $3)
      AND ($4 IS NULL OR p.username_folded LIKE $4 ESCAPE '\\')",
    "+p.last_seen",
    "$5 OFFSET $6"
);
/// Both begin at the names that match, which are few: the pluses keep the network's other indexes out of it.
const WITH_PART: Texts = (
    Sql {
        sqlite: "SELECT COUNT(*) FROM players p WHERE +p.network_id = $1
                   AND p.number IN (SELECT s.rowid FROM player_search s WHERE s.player_search MATCH $2)
                   AND ($3 IS NULL OR +p.region = $3)",
        postgres: count!(" AND p.username_folded LIKE $2 AND ($3 IS NULL OR p.region = $3)"),
    },
    Sql {
        sqlite: "SELECT p.player_uuid, p.username, p.game_type, p.region, p.country, p.first_seen, p.last_seen
                 FROM players p WHERE +p.network_id = $1
                   AND p.number IN (SELECT s.rowid FROM player_search s WHERE s.player_search MATCH $2)
                   AND ($3 IS NULL OR +p.region = $3)
                 ORDER BY p.last_seen DESC, p.player_uuid LIMIT $4 OFFSET $5",
        postgres: list!(
            " AND p.username_folded LIKE $2 AND ($3 IS NULL OR p.region = $3)",
            "+p.last_seen",
            "$4 OFFSET $5"
        ),
    },
);
/// There is no index to find a shorter part by: it is looked for among the 10,000 players seen last.
const WITH_SHORT_PART: Texts = {
    let count = "SELECT COUNT(*) FROM (SELECT * FROM players WHERE network_id = $1
                     ORDER BY last_seen DESC, player_uuid LIMIT 10000) p
                 WHERE p.username_folded LIKE $2 ESCAPE '\\' AND ($3 IS NULL OR p.region = $3)";
    let list = "SELECT p.player_uuid, p.username, p.game_type, p.region, p.country, p.first_seen, p.last_seen
                FROM (SELECT * FROM players WHERE network_id = $1
                    ORDER BY last_seen DESC, player_uuid LIMIT 10000) p
                WHERE p.username_folded LIKE $2 ESCAPE '\\' AND ($3 IS NULL OR p.region = $3)
                ORDER BY p.last_seen DESC, p.player_uuid LIMIT $4 OFFSET $5";
    (Sql { sqlite: count, postgres: count }, Sql { sqlite: list, postgres: list })
};

/// One page of the players who are wanted, and how many they are.
pub(in crate::players) async fn list(
    db: &Db,
    network: NetworkId,
    search: &Search,
    limit: i64,
    offset: i64,
) -> Result<(Vec<Player>, i64), Error> {
    let name = search.username.as_deref().map(folded);
    let part = search.text.as_deref().map(folded);
    let characters = |text: &String| text.chars().count();
    if part.as_ref().is_some_and(|part| characters(part) > LONGEST) {
        return Ok((vec![], 0));
    }
    let region = search.region.as_ref().map(|region| region.as_str().to_owned());
    let pattern = part.as_deref().map(like_pattern);
    let (texts, needles): (_, Vec<Option<String>>) = match (name, part, region) {
        (Some(name), _, region) => (NAMED, vec![Some(name), region, pattern]),
        (None, Some(part), region) if characters(&part) < TRIGRAM => (WITH_SHORT_PART, vec![pattern, region]),
        (None, Some(part), region) => {
            let needle = if db.backend() == Backend::Sqlite { Some(phrase(&part)) } else { pattern };
            (WITH_PART, vec![needle, region])
        }
        (None, None, Some(region)) => (OF_REGION, vec![Some(region)]),
        (None, None, None) => (ALL, vec![]),
    };
    let bound = |sql: Sql| needles.iter().cloned().fold(db.query(sql).bind(network), Statement::bind);
    let (total,): (i64,) = bound(texts.0).one().await?;
    let rows = bound(texts.1).bind(limit).bind(offset).all().await?;
    Ok((rows, total))
}

/// The pattern that finds a text anywhere in a name.
fn like_pattern(part: &str) -> String {
    let mut pattern = String::from("%");
    for character in part.chars() {
        if matches!(character, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern + "%"
}

/// The same for SQLite's text search: a text in quotes means itself.
fn phrase(part: &str) -> String {
    format!("\"{}\"", part.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use hub_db::Config;

    use super::*;

    /// SQLite has no statistics to plan by. Each way must begin at an index, and that of a part at the text search.
    #[tokio::test]
    async fn each_way_begins_at_its_index() {
        let folder = tempfile::TempDir::new().unwrap();
        let db = Db::connect(&Config::Sqlite { path: folder.path().join("hub.db") }).await.unwrap();
        db.migrate().await.unwrap();
        for (texts, needed) in [
            (ALL, "(network_id=?)"),
            (OF_REGION, "players_by_region (network_id=? AND region=?)"),
            (NAMED, "players_by_username (network_id=? AND username_folded=?)"),
            (WITH_PART, "INTEGER PRIMARY KEY (rowid=?)"),
            (WITH_SHORT_PART, "players_by_last_seen (network_id=?)"),
        ] {
            for sql in [texts.0, texts.1] {
                let explain: &'static str = format!("EXPLAIN QUERY PLAN {}", sql.sqlite).leak();
                let plan: Vec<(i64, i64, i64, String)> = db.query(explain).all().await.unwrap();
                let plan: Vec<_> = plan.into_iter().map(|(.., step)| step).collect();
                assert!(plan.iter().any(|step| step.contains(needed)), "{needed}: {plan:#?}");
                assert!(!plan.iter().any(|step| step.starts_with("SCAN players")), "{plan:#?}");
            }
        }
    }

    #[test]
    fn a_part_means_its_text_and_no_pattern() {
        assert_eq!(like_pattern(r"50%_\ö"), r"%50\%\_\\ö%");
        assert_eq!(phrase(r#"a"b*"#), r#""a""b*""#);
    }
}
