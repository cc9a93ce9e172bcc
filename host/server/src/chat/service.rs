//! The rules of chat.

use hub_sandbox::contract::chat::{Decision, Mute};
use thiserror::Error;

use crate::app::App;
use crate::chat::filter::filter;
use crate::chat::model::{ChatMessage, Message};
use crate::events::{self, EventKind, PublishError};
use crate::http::error::ApiError;
use crate::moderation;
use crate::punishments::{Actor, NewPunishment, PunishmentDuration, PunishmentKind, PunishmentTerms, Target};
use crate::values::NetworkId;

/// In the name of what a filter mutes.
const ISSUER: &str = "chat filter";

/// Why a line was not relayed.
#[derive(Debug, Error)]
pub(super) enum ChatError {
    /// The network's filter refused it, for this reason.
    #[error("{0}")]
    Rejected(String),
    /// The network's filter made something of it that is no message.
    #[error("the chat filter's text {0}")]
    Rewrite(String),
    /// It was not published.
    #[error(transparent)]
    Publish(#[from] PublishError),
}

impl From<ChatError> for ApiError {
    fn from(error: ChatError) -> Self {
        match error {
            ChatError::Rejected(reason) => Self::bad_request("chat_rejected", reason),
            ChatError::Publish(error) => error.into(),
            ChatError::Rewrite(_) => Self::internal(error),
        }
    }
}

/// Relays a line to every server of the network, as the filter leaves it.
pub(super) async fn say(app: &App, network: NetworkId, mut said: ChatMessage) -> Result<(), ChatError> {
    let verdict = filter(app, network, &said).await;
    let relayed = match verdict.decision {
        Decision::Refuse(reason) => Err(ChatError::Rejected(reason)),
        Decision::Allow => relay(app, network, &said).await,
        Decision::Rewrite(text) => {
            said.message = Message::try_from(text).map_err(ChatError::Rewrite)?;
            relay(app, network, &said).await
        }
    };
    if let Some(asked) = verdict.mute {
        mute(app, network, &said, asked).await;
    }
    relayed
}

async fn relay(app: &App, network: NetworkId, said: &ChatMessage) -> Result<(), ChatError> {
    Ok(events::publish(app, network, EventKind::Chat, None, said).await?)
}

/// Whatever becomes of the mute, the line's fate is decided: its sender is not told.
async fn mute(app: &App, network: NetworkId, said: &ChatMessage, asked: Mute) {
    let new = NewPunishment {
        target: Target::Player { id: said.player_uuid, name: Some(said.player_name.to_string()), ip_based: false },
        terms: PunishmentTerms {
            kind: PunishmentKind::Mute,
            reason: Some(asked.reason).filter(|reason| !reason.is_empty()),
            duration: Some(PunishmentDuration::clamped(asked.duration_ms)),
        },
        issuer: Actor { player: None, name: Some(ISSUER.to_owned()) },
    };
    if let Err(error) = moderation::service::create(app, network, new).await {
        tracing::warn!(%error, %network, "a mute the chat filter asked for was not made");
    }
}
