//! Joins presence to the components above it.

use futures_util::future::{BoxFuture, FutureExt as _};
use hub_db::{Error, Tx};

use crate::app::App;
use crate::clock::Millis;
use crate::presence::{AgentReport, Arrival, PresenceHooks, SavedVisit};
use crate::values::{Identifier, NetworkId, PlayerId};
use crate::{control, deliveries, play_time, player_sessions, players, transfers};

/// Transfers, players, their sessions and agents.
pub(crate) struct ComponentHooks;

impl PresenceHooks for ComponentHooks {
    fn joined<'a>(
        &self,
        app: &'a App,
        network: NetworkId,
        player: PlayerId,
        name: Option<&'a Identifier>,
        server: &'a Identifier,
    ) -> BoxFuture<'a, ()> {
        async move {
            if let Err(error) = transfers::service::record_arrival(app, network, player, server).await {
                tracing::warn!(%network, %error, "could not end the transfer of a player who arrived");
            }
            player_sessions::service::note_join(app, network, player);
            players::service::record_join(app, network, player, name).await;
            deliveries::service::record_join(app, network, player).await;
        }
        .boxed()
    }

    fn arrived<'a>(
        &'a self,
        app: &'a App,
        network: NetworkId,
        arrivals: &'a [Arrival],
    ) -> BoxFuture<'a, Result<(), Error>> {
        async move {
            transfers::service::record_arrivals(app, network, arrivals).await?;
            players::service::record_arrivals(app, network, arrivals).await?;
            deliveries::service::record_arrivals(app, network, arrivals).await
        }
        .boxed()
    }

    fn departed<'a>(
        &'a self,
        app: &'a App,
        network: NetworkId,
        departures: &'a [(PlayerId, Millis)],
    ) -> BoxFuture<'a, Result<(), Error>> {
        players::service::record_departures(app, network, departures).boxed()
    }

    fn arrival_deadline<'a>(
        &self,
        app: &'a App,
        network: NetworkId,
        player: PlayerId,
        server: &'a Identifier,
    ) -> BoxFuture<'a, Result<Option<Millis>, hub_db::Error>> {
        transfers::service::arrival_deadline(app, network, player, server).boxed()
    }

    fn left<'a>(&self, app: &'a App, network: NetworkId, player: PlayerId) -> BoxFuture<'a, ()> {
        player_sessions::service::note_leave(app, network, player);
        players::service::record_leave(app, network, player).boxed()
    }

    fn save_visits<'a>(
        &'a self,
        app: &'a App,
        tx: &'a mut Tx,
        network: NetworkId,
        visits: &'a [SavedVisit],
    ) -> BoxFuture<'a, Result<(), Error>> {
        play_time::service::save_visits(app, tx, network, visits).boxed()
    }

    fn agent_report(&self, app: &App, network: NetworkId, server: &Identifier) -> Option<AgentReport> {
        control::service::report(app, network, server)
    }
}
