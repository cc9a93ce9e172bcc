//! Saves and restores state that outlives this process: stored commands, and the connected agents when a network moves
//! or the hub stops.

use std::sync::atomic::{AtomicBool, Ordering};

use hub_db::Error;

use crate::app::App;
use crate::cluster::ShardRegistry;
use crate::control::agents::AGENT_TTL;
use crate::control::{AGENT_COMMANDS, Control, store};
use crate::secrets;
use crate::side_by_side::for_each_network;
use crate::values::NetworkId;

/// Restores a network's agents and their queued commands.
pub(super) async fn restore(app: &App, network: NetworkId) -> Result<(), Error> {
    let now = app.clock.now();
    let agents = store::agents(&app.db, network, now.saturating_sub(AGENT_TTL)).await?;
    let lacks_key = AtomicBool::new(false);
    let open = |stored: &str| {
        let opened = secrets::unseal_text(app, AGENT_COMMANDS, stored);
        lacks_key.fetch_or(opened.is_none(), Ordering::Relaxed);
        opened
    };
    let commands = store::commands(&app.db, network, now, open).await?;
    if lacks_key.into_inner() && !secrets::is_key_current(app).await? {
        // Another node has a newer key, which this one gets soon: the network is restored again.
        return Err(sqlx::Error::Decode("this node lacks the newest secrets key".into()).into());
    }
    app.state::<Control>().agents.restore(network, agents, commands);
    Ok(())
}

/// Saves a network's connected agents.
pub(super) async fn save(app: &App, network: NetworkId) -> Result<(), Error> {
    let agents = app.state::<Control>().agents.snapshots(network, app.clock.now());
    if agents.is_empty() {
        return Ok(());
    }
    app.db
        .transaction(async |mut tx| {
            if app.state::<ShardRegistry>().lock_lease(&mut tx, network).await? {
                store::save_agents(&mut tx, network, &agents).await?;
            }
            Ok(())
        })
        .await
}

/// Saves the connected agents of all networks.
pub(super) async fn stop(app: &App) {
    let networks = app.state::<Control>().agents.networks().into_iter().map(|network| (network, ()));
    for_each_network(networks, "save the connected agents", |network, ()| save(app, network)).await;
}
