//! Deliveries by name, until somebody is seen with it.

use std::collections::HashMap;

use hub_db::{Error, Tx};

use crate::app::App;
use crate::deliveries::store::references;
use crate::punishments;
use crate::values::{NetworkId, PlayerId};

/// Gives the deliveries that wait for a name to the player who was seen with it.
pub(crate) async fn bind_name(app: &App, network: NetworkId, player: PlayerId, name: &str) -> Result<(), Error> {
    let folded = name.to_lowercase();
    if !references::is_awaited(&app.db, network, &folded).await? {
        return Ok(());
    }
    app.db.transaction(async |mut tx| references::bind_name(&mut tx, network, &folded, player).await.map(drop)).await
}

/// Gives the deliveries that wait for these names to the players who were seen with them.
pub(crate) async fn bind_names(app: &App, network: NetworkId, seen: &[(PlayerId, &str)]) -> Result<(), Error> {
    let names: HashMap<_, _> = seen.iter().map(|(player, name)| (name.to_lowercase(), *player)).collect();
    let folded: Vec<_> = names.keys().cloned().collect();
    for name in references::awaited(&app.db, network, &folded).await? {
        if let Some(player) = names.get(&name) {
            bind_name(app, network, *player, &name).await?;
        }
    }
    Ok(())
}

/// Gives the deliveries that wait for a name to the player seen last with it, if there is one by now.
pub(in crate::deliveries) async fn resolve_in(
    tx: &mut Tx,
    network: NetworkId,
    name: &str,
) -> Result<Option<PlayerId>, Error> {
    let found = punishments::service::player_named(&mut *tx, network, name).await?;
    if let Some(player) = found {
        references::bind_name(tx, network, &name.to_lowercase(), player).await?;
    }
    Ok(found)
}
