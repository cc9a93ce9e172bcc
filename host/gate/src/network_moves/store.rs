//! SQL of moves, which the nodes of a hub read. It crosses networks: one loop is for all.

use hub_db::{Backend, Db, Error};

use crate::clock::Millis;
use crate::values::NetworkId;

/// A node that was silent for longer serves nothing.
const LIVE_WITHIN: Millis = 10_000;

/// A move of a network.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct MoveRow {
    pub(super) network_id: NetworkId,
    pub(super) move_id: String,
    pub(super) state: String,
    pub(super) url: String,
}

/// All moves.
pub(super) async fn moves(db: &Db) -> Result<Vec<MoveRow>, Error> {
    db.reserved().query("SELECT network_id, move_id, state, url FROM network_moves").all().await
}

/// Records that this node has nothing of the network under way any more.
pub(super) async fn note_still(db: &Db, of: &MoveRow, node: &str) -> Result<(), Error> {
    let sql = "INSERT INTO network_move_nodes (network_id, node, move_id) VALUES ($1, $2, $3)
               ON CONFLICT (network_id, node) DO UPDATE SET move_id = excluded.move_id";
    db.write(sql).bind(of.network_id).bind(node).bind(&of.move_id).execute().await?;
    Ok(())
}

/// Nodes of the hub, about one move.
#[derive(Clone, Copy, Debug)]
pub struct LiveNodes {
    /// False once the move was cancelled, or is another command's.
    pub is_under_way: bool,
    /// Those that have nothing of the network under way any more.
    pub still: i64,
    /// Those that may serve the database and have not said so.
    pub missing: i64,
}

/// Counts the nodes of the hub. On SQLite nobody knows which process serves the database.
pub async fn live_nodes(db: &Db, network: NetworkId, move_id: &str) -> Result<LiveNodes, Error> {
    let moves = "SELECT COUNT(*) FROM network_moves WHERE network_id = $1 AND move_id = $2";
    let (moves,): (i64,) = db.query(moves).bind(network).bind(move_id).one().await?;
    let is_under_way = moves > 0;
    let still = "SELECT COUNT(*) FROM network_move_nodes WHERE network_id = $1 AND move_id = $2";
    let (still,): (i64,) = db.query(still).bind(network).bind(move_id).one().await?;
    if db.backend() == Backend::Sqlite {
        return Ok(LiveNodes { is_under_way, still, missing: 0 });
    }
    let missing = "SELECT COUNT(*) FROM (
                       SELECT node FROM hub_nodes
                       WHERE seen_at > CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) - $3
                       UNION ALL
                       SELECT sole_node FROM hub_identity WHERE sole_node IS NOT NULL
                         AND sole_until > CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)) n
                   WHERE NOT EXISTS (
                       SELECT 1 FROM network_move_nodes d
                       WHERE d.network_id = $1 AND d.move_id = $2 AND d.node = n.node)";
    let (missing,): (i64,) = db.query(missing).bind(network).bind(move_id).bind(LIVE_WITHIN).one().await?;
    Ok(LiveNodes { is_under_way, still, missing })
}
