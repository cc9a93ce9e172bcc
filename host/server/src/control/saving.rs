//! What outlives this process: commands that wait for agents which need not be there yet, and, where a network leaves in an
//! orderly way, which agents there are.

use hub_db::Error;

use crate::app::App;
use crate::control::agents::THERE_FOR;
use crate::control::store;
use crate::values::NetworkId;

/// Brings back what a network's agents left and what waits for them.
pub(crate) async fn bring_back(app: &App, network: NetworkId) -> Result<(), Error> {
    let now = app.clock.now();
    let seen = store::agents(&app.db, network, now.saturating_sub(THERE_FOR)).await?;
    let commands = store::commands(&app.db, network, now).await?;
    app.control.agents.restore(network, seen, commands);
    Ok(())
}

/// Writes down which agents of a network are there.
pub(crate) async fn save(app: &App, network: NetworkId) -> Result<(), Error> {
    let seen = app.control.agents.seen(network, app.clock.now());
    if seen.is_empty() {
        return Ok(());
    }
    app.db
        .transaction(async |mut tx| {
            if app.shards.lock_lease(&mut tx, network).await? {
                store::save_agents(&mut tx, network, &seen).await?;
            }
            Ok(())
        })
        .await
}

/// As [`save`], of every network that is here.
pub(crate) async fn stop(app: &App) {
    for network in app.control.agents.networks() {
        if let Err(error) = save(app, network).await {
            tracing::error!(%network, %error, "could not save which agents are there");
        }
    }
}
