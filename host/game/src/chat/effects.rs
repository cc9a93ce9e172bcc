//! Messages of modules to players. They are no chat: no filter is asked, and no history keeps them.

use axum::http::StatusCode;
use hub_sandbox::contract::effects::{ChatTarget, SendChat};
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::events::{self, EventKind};
use crate::http::error::ApiError;
use crate::modules::{ModuleActor, read_field};
use crate::presence;
use crate::values::{Identifier, NetworkId, PlayerId};

/// A message of a module to players.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SystemMessage {
    #[schema(example = "Thank you for the vote!")]
    text: String,
    #[schema(example = "[Vote]")]
    prefix: Option<String>,
    target: MessageTarget,
    /// Name of the module.
    #[schema(example = "votes")]
    module: String,
}

/// Players to whom a message is shown. Without any field: all of the network.
#[derive(Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SystemMessageTarget)]
struct MessageTarget {
    /// Those on servers of this type.
    #[schema(example = json!(null))]
    server_type: Option<String>,
    /// Those on this server.
    #[schema(example = json!(null))]
    server_id: Option<String>,
    /// This player.
    player_uuid: Option<PlayerId>,
}

/// Sends a message to the streams of the servers with the players.
pub async fn send(app: &App, network: NetworkId, actor: &ModuleActor, effect: &SendChat) -> Result<(), ApiError> {
    let mut servers = None;
    let target = match &effect.target {
        ChatTarget::Network => MessageTarget::default(),
        ChatTarget::ServerType(kind) => {
            servers = Some(presence::service::online_of_type(app, network, kind));
            MessageTarget { server_type: Some(kind.clone()), ..MessageTarget::default() }
        }
        ChatTarget::Server(id) => {
            let id: Identifier = read_field("serverId", id)?;
            servers = Some(vec![id.clone()]);
            MessageTarget { server_id: Some(id.into_string()), ..MessageTarget::default() }
        }
        ChatTarget::Player(player) => {
            let player: PlayerId = read_field("playerUuid", player)?;
            let location = presence::service::online_player(app, network, player)
                .ok_or_else(|| ApiError::new(StatusCode::CONFLICT, "player_offline", "The player is on no server."))?;
            servers = Some(vec![location.server_id]);
            MessageTarget { player_uuid: Some(player), ..MessageTarget::default() }
        }
    };
    let message =
        SystemMessage { text: effect.text.clone(), prefix: effect.prefix.clone(), target, module: actor.name.clone() };
    app.db
        .transaction(async |mut tx| {
            let kind = EventKind::SystemMessage;
            let Some(servers) = &servers else {
                return events::publish_in(app, &mut tx, network, kind, None, &message).await;
            };
            if servers.is_empty() || !events::is_listening(app, &mut tx, network, &[kind]).await? {
                return Ok(());
            }
            let servers: Vec<_> = servers.iter().map(Identifier::as_str).collect();
            events::publish_copies_in(app, &mut tx, network, kind, &servers, &message).await
        })
        .await?;
    Ok(())
}
