//! Background work: sessions whose server or player is gone.

use std::convert::Infallible;
use std::time::Duration;

use crate::app::App;
use crate::background::every;
use crate::cluster::ShardRegistry;
use crate::player_sessions::error::SessionError;
use crate::player_sessions::{PlayerSessions, service};
use crate::values::NetworkId;

const INTERVAL: Duration = Duration::from_secs(1);

pub(super) fn start(app: &App) {
    every(app, INTERVAL, "end lost sessions of players", async |app: App| {
        let networks = app.state::<PlayerSessions>().networks();
        let own = networks.into_iter().filter(|network| app.state::<ShardRegistry>().owns(*network));
        let pass = &app.state::<PlayerSessions>().pass;
        pass.run(
            &app,
            own,
            "end lost sessions of players",
            |app, network| async move { end_lost(&app, network).await },
        )
        .await;
        Ok::<_, Infallible>(())
    });
}

async fn end_lost(app: &App, network: NetworkId) -> Result<(), SessionError> {
    for player in service::lost(app, network) {
        service::end_lost(app, network, player).await?;
    }
    Ok(())
}
