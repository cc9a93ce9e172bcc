//! The rules of chat.

use hub_sandbox::FilterChat;
use hub_sandbox::contract::PlayerRef;
use hub_sandbox::contract::chat::{Decision, Line, Mute};
use thiserror::Error;

use crate::app::App;
use crate::chat::model::{ChatMessage, Message};
use crate::events::{self, EventKind, PublishError};
use crate::http::error::ApiError;
use crate::modules::service as modules;
use crate::punishments::review;
use crate::punishments::{Actor, NewPunishment, PunishmentDuration, PunishmentKind, PunishmentTerms, Target};
use crate::values::{NetworkId, Text};

/// Issuer of mutes requested by a filter.
const ISSUER: &str = "chat filter";

/// Reason for not relaying a message.
#[derive(Debug, Error)]
pub(super) enum ChatError {
    /// Refused by the network's filter, with its reason.
    #[error("{0}")]
    Rejected(String),
    /// Rewritten by the network's filter to an invalid message.
    #[error("the chat filter's text {0}")]
    InvalidRewrite(String),
    /// Not published.
    #[error(transparent)]
    Publish(#[from] PublishError),
}

impl From<ChatError> for ApiError {
    fn from(error: ChatError) -> Self {
        match error {
            ChatError::Rejected(reason) => Self::bad_request("chat_rejected", reason),
            ChatError::Publish(error) => error.into(),
            ChatError::InvalidRewrite(_) => Self::internal(error),
        }
    }
}

/// Relays a message, as changed by the network's modules, to every server of the network.
pub(super) async fn relay(app: &App, network: NetworkId, mut chat: ChatMessage) -> Result<(), ChatError> {
    let verdict = modules::call::<FilterChat>(app, network, to_line(&chat)).await;
    let relayed = match verdict.decision {
        Decision::Refuse(reason) => Err(ChatError::Rejected(reason)),
        Decision::Allow => publish(app, network, &chat).await,
        Decision::Rewrite(text) => {
            chat.message = Message::try_from(text).map_err(ChatError::InvalidRewrite)?;
            publish(app, network, &chat).await
        }
    };
    if let Some(requested) = verdict.mute {
        mute(app, network, &chat, requested).await;
    }
    relayed
}

/// Message as seen by modules.
fn to_line(chat: &ChatMessage) -> Line {
    let text = |text: &Option<Text<255>>| text.as_ref().map(|text| text.as_str().to_owned());
    Line {
        player: PlayerRef { uuid: chat.player_uuid.to_string(), name: chat.player_name.to_string() },
        message: chat.message.as_str().to_owned(),
        server_id: chat.server_id.to_string(),
        server_type: text(&chat.server_type).unwrap_or_default(),
        world: text(&chat.world),
        rank: text(&chat.rank),
    }
}

async fn publish(app: &App, network: NetworkId, chat: &ChatMessage) -> Result<(), ChatError> {
    Ok(events::publish(app, network, EventKind::Chat, None, chat).await?)
}

/// Failures are only logged: the message is decided already.
async fn mute(app: &App, network: NetworkId, chat: &ChatMessage, requested: Mute) {
    let new = NewPunishment {
        target: Target::Player { id: chat.player_uuid, name: Some(chat.player_name.to_string()), ip_based: false },
        terms: PunishmentTerms {
            kind: PunishmentKind::Mute,
            reason: Some(requested.reason).filter(|reason| !reason.is_empty()),
            duration: Some(PunishmentDuration::clamped(requested.duration_ms)),
        },
        issuer: Actor { player: None, name: Some(ISSUER.to_owned()) },
    };
    if let Err(error) = review::create(app, network, new).await {
        tracing::warn!(%error, %network, "could not create a mute requested by the chat filter");
    }
}
