//! Finds live worlds, for other components.

use crate::app::App;
use crate::values::{Identifier, NetworkId};
use crate::worlds::model::LeaseState;
use crate::worlds::store;

/// Location of an owner's live world: its node, and its id there. Of several, the one opened last.
pub(crate) async fn find_live(
    app: &App,
    network: NetworkId,
    game_id: &Identifier,
    owner_scope: &Identifier,
    owner_id: &Identifier,
) -> Result<Option<(Identifier, Identifier)>, hub_db::Error> {
    let found = store::worlds::find_live(&app.db, network, game_id, owner_scope, owner_id, app.clock.now()).await?;
    Ok(found.and_then(|(node, id)| Some((node, Identifier::try_from(id.to_string()).ok()?))))
}

/// True if that world was opened on that server and is up, in the server's heartbeat yet or not.
pub(crate) async fn is_live_on(
    app: &App,
    network: NetworkId,
    server: &Identifier,
    world: &Identifier,
) -> Result<bool, hub_db::Error> {
    let Ok(id) = world.as_str().parse() else { return Ok(false) };
    let lease = store::leases::get(&app.db, network, id).await?.map(|lease| lease.at(app.clock.now()));
    Ok(lease.is_some_and(|lease| lease.state == LeaseState::Ready && lease.node_server_id.as_ref() == Some(server)))
}
