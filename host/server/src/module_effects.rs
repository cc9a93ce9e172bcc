//! Effects of modules, applied by the components that own what they change.

use futures_util::future::{BoxFuture, FutureExt as _};
use hub_sandbox::contract::effects::{Action, Effect};

use crate::app::App;
use crate::http::error::ApiError;
use crate::modules::{HandledEvent, ModuleActor, ModuleEffects, Prepared};
use crate::punishments::effects::PreparedPunishment;
use crate::values::{NetworkId, PlayerId};
use crate::{
    chat, collections, control, deliveries, economy, permissions, player_sessions, players, presence, punishments,
    statistics, transfers, webhooks,
};

/// Effects on the game's components.
pub(crate) struct GameEffects;

impl ModuleEffects for GameEffects {
    fn order<'a>(&'a self, app: &'a App, network: NetworkId, effects: &'a [Effect]) -> BoxFuture<'a, Prepared> {
        async move {
            let player = |effect: &Effect| match &effect.action {
                Action::PutPlayerData(it) => it.player_uuid.parse::<PlayerId>().ok(),
                Action::DeletePlayerData(it) => it.player_uuid.parse::<PlayerId>().ok(),
                _ => None,
            };
            let mut players: Vec<_> = effects.iter().filter_map(player).collect();
            // One order for all, and each once, so that two calls never wait for each other.
            players.sort_unstable();
            players.dedup();
            let mut ordered = vec![];
            for player in players {
                ordered.push(player_sessions::service::order_write(app, network, player).await);
            }
            Box::new(ordered) as Prepared
        }
        .boxed()
    }

    fn prepare<'a>(
        &'a self,
        app: &'a App,
        network: NetworkId,
        actor: &'a ModuleActor,
        event: HandledEvent<'a>,
        action: &'a Action,
    ) -> BoxFuture<'a, Result<Option<Prepared>, ApiError>> {
        async move {
            let Action::Punish(punish) = action else { return Ok(None) };
            let prepared = punishments::effects::prepare(app, network, actor, event, punish).await?;
            Ok(Some(Box::new(prepared) as Prepared))
        }
        .boxed()
    }

    fn apply<'a>(
        &'a self,
        app: &'a App,
        network: NetworkId,
        actor: &'a ModuleActor,
        action: &'a Action,
        prepared: Option<&'a Prepared>,
    ) -> BoxFuture<'a, Result<(), ApiError>> {
        apply(app, network, actor, action, prepared).boxed()
    }

    fn server_of(&self, app: &App, network: NetworkId, player: PlayerId) -> Option<String> {
        Some(presence::service::online_player(app, network, player)?.server_id.into_string())
    }
}

async fn apply(
    app: &App,
    network: NetworkId,
    actor: &ModuleActor,
    action: &Action,
    prepared: Option<&Prepared>,
) -> Result<(), ApiError> {
    match action {
        Action::ModifyCurrency(it) => economy::effects::modify(app, network, actor, it).await,
        Action::Transaction(it) => economy::effects::transact(app, network, actor, it).await,
        Action::IncrementStatistic(it) => statistics::effects::increment(app, network, it).await,
        Action::PutPlayerData(it) => players::effects::put(app, network, it).await,
        Action::DeletePlayerData(it) => players::effects::delete(app, network, it).await,
        Action::PutDocument(it) => collections::effects::put(app, network, it).await,
        Action::DeleteDocument(it) => collections::effects::delete(app, network, it).await,
        Action::PutPermission(it) => permissions::effects::put(app, network, actor, it).await,
        Action::RemovePermission(it) => permissions::effects::remove(app, network, actor, it).await,
        Action::Punish(_) => match prepared.and_then(|prepared| (**prepared).downcast_ref::<PreparedPunishment>()) {
            Some(prepared) => punishments::effects::punish(app, network, prepared).await,
            None => Err(ApiError::internal(std::io::Error::other("no review was asked about a punishment"))),
        },
        Action::RevokePunishment(it) => punishments::effects::revoke(app, network, actor, it).await,
        Action::SendChat(it) => chat::effects::send(app, network, actor, it).await,
        Action::Deliver(it) => deliveries::effects::deliver(app, network, it).await,
        Action::RunCommand(it) => control::effects::run(app, network, actor, it).await,
        Action::Transfer(it) => transfers::effects::transfer(app, network, it).await,
        Action::CallWebhook(it) => webhooks::effects::call(app, network, actor, it).await,
        // Applied with the other effects, by the modules' own component.
        Action::Emit(_) | Action::SetTimer(_) | Action::CancelTimer(_) => {
            Err(ApiError::internal(std::io::Error::other("an event or a timer changes no component")))
        }
    }
}
