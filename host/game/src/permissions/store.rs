//! All SQL of the component.

use hub_db::{Db, Error, Executor, Tx, next_number};

use crate::clock::{Cutoff, Millis};
use crate::compute::{LARGE_JSON, compute_if};
use crate::limits::{Limit, Rows};
use crate::permissions::context::{PermissionContext, PermissionWorld};
use crate::permissions::model::{Group, Node, NodeKey};
use crate::values::{Identifier, NetworkId, PlayerId};

/// Nodes of all players of a network.
pub(super) const PLAYER_NODES: Rows = Rows::many(
    Limit::PlayerNodes,
    "SELECT COUNT(*) FROM (SELECT node FROM permission_nodes WHERE network_id = $1 LIMIT $2) AS counted",
);

/// Players of a network who have, or had, nodes of their own: a revision of each stays.
pub(super) const PLAYERS_WITH_NODES: Rows = Rows::many(
    Limit::PlayersWithNodes,
    "SELECT COUNT(*) FROM (
         SELECT player_uuid FROM player_permission_revisions WHERE network_id = $1 LIMIT $2) AS counted",
);

/// True if the player has, or had, nodes of their own.
pub(super) async fn had_nodes(db: &Db, network: NetworkId, player: PlayerId) -> Result<bool, Error> {
    let sql = "SELECT revision FROM player_permission_revisions WHERE network_id = $1 AND player_uuid = $2";
    let row: Option<(i64,)> = db.query(sql).bind(network).bind(player).optional().await?;
    Ok(row.is_some())
}

#[derive(sqlx::FromRow)]
struct GroupRow {
    group_id: String,
    display_name: Option<String>,
    priority: i64,
    chat_prefix: Option<String>,
    chat_prefix_color: Option<String>,
    chat_name_color: Option<String>,
    nodes: String,
    revision: i64,
}

impl TryFrom<GroupRow> for Group {
    type Error = Error;

    fn try_from(row: GroupRow) -> Result<Self, Error> {
        // An error, not an empty group: a group without its nodes would allow what they deny.
        let nodes = serde_json::from_str(&row.nodes).map_err(unreadable)?;
        Ok(Self {
            id: row.group_id,
            display_name: row.display_name,
            priority: row.priority,
            chat_prefix: row.chat_prefix,
            chat_prefix_color: row.chat_prefix_color,
            chat_name_color: row.chat_name_color,
            nodes,
            revision: row.revision,
        })
    }
}

fn unreadable(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    sqlx::Error::Decode(error.into()).into()
}

/// Ids and display names of all groups. A network has few.
pub(super) async fn group_names(db: &Db, network: NetworkId) -> Result<Vec<(String, Option<String>)>, Error> {
    db.query("SELECT group_id, display_name FROM permission_groups WHERE network_id = $1 ORDER BY group_id")
        .bind(network)
        .all()
        .await
}

/// Groups by priority, highest first, then by id.
pub(super) async fn groups(db: &Db, network: NetworkId) -> Result<Vec<Group>, Error> {
    let rows: Vec<GroupRow> = db
        .query(
            "SELECT group_id, display_name, priority, chat_prefix, chat_prefix_color, chat_name_color, nodes, revision
             FROM permission_groups WHERE network_id = $1 ORDER BY priority DESC, group_id",
        )
        .bind(network)
        .all()
        .await?;
    let size: usize = rows.iter().map(|row| row.nodes.len()).sum();
    compute_if(size > LARGE_JSON, || rows.into_iter().map(Group::try_from).collect()).await
}

pub(super) async fn group(on: impl Into<Executor<'_>>, network: NetworkId, id: &str) -> Result<Option<Group>, Error> {
    let row: Option<GroupRow> = on
        .into()
        .query(
            "SELECT group_id, display_name, priority, chat_prefix, chat_prefix_color, chat_name_color, nodes, revision
             FROM permission_groups WHERE network_id = $1 AND group_id = $2",
        )
        .bind(network)
        .bind(id)
        .optional()
        .await?;
    row.map(Group::try_from).transpose()
}

/// Creates or replaces a group, which has the revision from then on.
pub(super) async fn put_group(tx: &mut Tx, network: NetworkId, group: &Group, revision: i64) -> Result<(), Error> {
    let nodes = serde_json::to_string(&group.nodes).map_err(|error| Error::from(sqlx::Error::Encode(error.into())))?;
    tx.query(
        "INSERT INTO permission_groups (network_id, group_id, display_name, priority, chat_prefix, chat_prefix_color,
             chat_name_color, nodes, revision)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
         ON CONFLICT (network_id, group_id) DO UPDATE SET
             display_name = excluded.display_name, priority = excluded.priority, chat_prefix = excluded.chat_prefix,
             chat_prefix_color = excluded.chat_prefix_color, chat_name_color = excluded.chat_name_color,
             nodes = excluded.nodes, revision = excluded.revision",
    )
    .bind(network)
    .bind(&group.id)
    .bind(&group.display_name)
    .bind(group.priority)
    .bind(&group.chat_prefix)
    .bind(&group.chat_prefix_color)
    .bind(&group.chat_name_color)
    .bind(nodes)
    .bind(revision)
    .execute()
    .await?;
    Ok(())
}

/// Number of groups, and the maximum size of all of them in an answer, in bytes.
pub(super) async fn count_groups(on: impl Into<Executor<'_>>, network: NetworkId) -> Result<(i64, i64), Error> {
    on.into()
        .query(
            "SELECT COUNT(*), CAST(COALESCE(SUM(200 + octet_length(nodes) + 6 * (octet_length(group_id)
                 + COALESCE(octet_length(display_name), 0) + COALESCE(octet_length(chat_prefix), 0)
                 + COALESCE(octet_length(chat_prefix_color), 0) + COALESCE(octet_length(chat_name_color), 0))), 0)
                 AS BIGINT)
             FROM permission_groups WHERE network_id = $1",
        )
        .bind(network)
        .one()
        .await
}

/// Deletes a group; false if there was none.
pub(super) async fn delete_group(tx: &mut Tx, network: NetworkId, id: &str) -> Result<bool, Error> {
    let deleted = tx
        .query("DELETE FROM permission_groups WHERE network_id = $1 AND group_id = $2")
        .bind(network)
        .bind(id)
        .execute()
        .await?;
    Ok(deleted > 0)
}

#[derive(sqlx::FromRow)]
struct NodeRow {
    node: Identifier,
    context: String,
    world: String,
    value: bool,
    expires_at: Option<Millis>,
}

impl TryFrom<NodeRow> for Node {
    type Error = Error;

    fn try_from(row: NodeRow) -> Result<Self, Error> {
        let not_empty = |text: String| (!text.is_empty()).then_some(text);
        Ok(Self {
            node: row.node,
            value: row.value,
            context: not_empty(row.context).map(PermissionContext::try_from).transpose().map_err(unreadable)?,
            world: not_empty(row.world).map(PermissionWorld::try_from).transpose().map_err(unreadable)?,
            expires_at: row.expires_at,
        })
    }
}

/// A player's own nodes that have not expired, by name, context and world.
pub(super) async fn nodes(db: &Db, network: NetworkId, player: PlayerId, now: Millis) -> Result<Vec<Node>, Error> {
    let rows: Vec<NodeRow> = db
        .query(
            "SELECT node, context, world, value, expires_at FROM permission_nodes
             WHERE network_id = $1 AND player_uuid = $2 AND (expires_at IS NULL OR expires_at > $3)
             ORDER BY node, context, world",
        )
        .bind(network)
        .bind(player)
        .bind(now)
        .all()
        .await?;
    rows.into_iter().map(Node::try_from).collect()
}

/// Adds a node, or updates its value and expiry.
pub(super) async fn put_node(tx: &mut Tx, network: NetworkId, player: PlayerId, node: &Node) -> Result<(), Error> {
    let (name, context, world) = node.key();
    tx.query(
        "INSERT INTO permission_nodes (network_id, player_uuid, node, context, world, value, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (network_id, player_uuid, node, context, world)
         DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at",
    )
    .bind(network)
    .bind(player)
    .bind(name)
    .bind(context)
    .bind(world)
    .bind(node.value)
    .bind(node.expires_at)
    .execute()
    .await?;
    Ok(())
}

/// Deletes a player's expired nodes, so that they do not pile up.
pub(super) async fn delete_expired(
    tx: &mut Tx,
    network: NetworkId,
    player: PlayerId,
    ended: Cutoff,
) -> Result<(), Error> {
    tx.query("DELETE FROM permission_nodes WHERE network_id = $1 AND player_uuid = $2 AND expires_at <= $3")
        .bind(network)
        .bind(player)
        .bind(ended.at())
        .execute()
        .await?;
    Ok(())
}

/// Number of a player's nodes, and their bytes.
pub(super) async fn count_nodes(tx: &mut Tx, network: NetworkId, player: PlayerId) -> Result<(i64, i64), Error> {
    tx.query(
        "SELECT COUNT(*), CAST(COALESCE(SUM(100 + octet_length(node) + octet_length(context) + octet_length(world)), 0)
             AS BIGINT)
         FROM permission_nodes WHERE network_id = $1 AND player_uuid = $2",
    )
    .bind(network)
    .bind(player)
    .one()
    .await
}

pub(super) async fn has_node(
    db: &Db,
    network: NetworkId,
    player: PlayerId,
    (node, context, world): NodeKey<'_>,
) -> Result<bool, Error> {
    let row: Option<(bool,)> = db
        .query(
            "SELECT value FROM permission_nodes
             WHERE network_id = $1 AND player_uuid = $2 AND node = $3 AND context = $4 AND world = $5",
        )
        .bind(network)
        .bind(player)
        .bind(node)
        .bind(context)
        .bind(world)
        .optional()
        .await?;
    Ok(row.is_some())
}

/// Updates the value and expiry of a player's node; false if the player does not have it.
pub(super) async fn update_node(tx: &mut Tx, network: NetworkId, player: PlayerId, new: &Node) -> Result<bool, Error> {
    let (node, context, world) = new.key();
    let rows = tx
        .query(
            "UPDATE permission_nodes SET value = $6, expires_at = $7
             WHERE network_id = $1 AND player_uuid = $2 AND node = $3 AND context = $4 AND world = $5",
        )
        .bind(network)
        .bind(player)
        .bind(node)
        .bind(context)
        .bind(world)
        .bind(new.value)
        .bind(new.expires_at)
        .execute()
        .await?;
    Ok(rows > 0)
}

/// Deletes a player's node; false if the player did not have it.
pub(super) async fn delete_node(
    tx: &mut Tx,
    network: NetworkId,
    player: PlayerId,
    (node, context, world): NodeKey<'_>,
) -> Result<bool, Error> {
    let deleted = tx
        .query(
            "DELETE FROM permission_nodes
             WHERE network_id = $1 AND player_uuid = $2 AND node = $3 AND context = $4 AND world = $5",
        )
        .bind(network)
        .bind(player)
        .bind(node)
        .bind(context)
        .bind(world)
        .execute()
        .await?;
    Ok(deleted > 0)
}

/// Counts a change of a group. Returns the new revision. The row is locked until the transaction ends, so that
/// revisions are committed in order.
pub(super) async fn raise_group_revision(tx: &mut Tx, network: NetworkId) -> Result<i64, Error> {
    let (revision,): (i64,) = tx
        .query(concat!(
            "INSERT INTO permission_revisions (network_id, last_revision, group_revision)
                 VALUES ($1, ",
            next_number!("0"),
            ", ",
            next_number!("0"),
            ") ON CONFLICT (network_id) DO UPDATE SET last_revision = ",
            next_number!("permission_revisions.last_revision"),
            ", group_revision = ",
            next_number!("permission_revisions.last_revision"),
            " RETURNING last_revision"
        ))
        .bind(network)
        .one()
        .await?;
    Ok(revision)
}

/// Counts a change of a player's own nodes. Returns the new revision.
pub(super) async fn raise_player_revision(tx: &mut Tx, network: NetworkId, player: PlayerId) -> Result<i64, Error> {
    let (revision,): (i64,) = tx
        .query(concat!(
            "INSERT INTO permission_revisions (network_id, last_revision, group_revision) VALUES ($1, ",
            next_number!("0"),
            ", 0) ON CONFLICT (network_id) DO UPDATE SET last_revision = ",
            next_number!("permission_revisions.last_revision"),
            " RETURNING last_revision"
        ))
        .bind(network)
        .one()
        .await?;
    tx.query(
        "INSERT INTO player_permission_revisions (network_id, player_uuid, revision) VALUES ($1, $2, $3)
         ON CONFLICT (network_id, player_uuid) DO UPDATE SET revision = excluded.revision",
    )
    .bind(network)
    .bind(player)
    .bind(revision)
    .execute()
    .await?;
    Ok(revision)
}

const REVISION: &str = "SELECT MAX(revision) FROM (
         SELECT group_revision AS revision FROM permission_revisions WHERE network_id = $1
         UNION ALL
         SELECT revision FROM player_permission_revisions WHERE network_id = $1 AND player_uuid = $2) AS revisions";

/// Revision of the last change that affects a player's permissions; 0 if there was none.
pub(super) async fn revision(db: &Db, network: NetworkId, player: PlayerId) -> Result<i64, Error> {
    let (revision,): (Option<i64>,) = db.query(REVISION).bind(network).bind(player).one().await?;
    Ok(revision.unwrap_or_default())
}
