//! The rules of chat.

use hub_sandbox::FilterChat;
use hub_sandbox::contract::PlayerRef;
use hub_sandbox::contract::chat::{Decision, Line, Mute};
use thiserror::Error;

use crate::app::App;
use crate::chat::history::{self, ChatHistory};
use crate::chat::line::{ChatLine, ChatVerdict, Verdict};
use crate::chat::model::{ChatMessage, Message};
use crate::chat::store::{self, Filter, NewLine};
use crate::clock::Millis;
use crate::events::{self, EventKind, PublishError};
use crate::http::error::ApiError;
use crate::limits;
use crate::modules::service as modules;
use crate::punishments::review;
use crate::punishments::{
    Actor, NewPunishment, PunishmentDuration, PunishmentKind, PunishmentOrigin, PunishmentTerms, Target,
};
use crate::values::{Identifier, NetworkId, PlayerId, Text};

/// Issuer of mutes requested by a filter.
const ISSUER: &str = "chat filter";
const DAY: Millis = 24 * 60 * 60 * 1000;

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

/// Relays a message, as changed by the network's modules, to every server of the network, and keeps it for staff.
pub(super) async fn relay(app: &App, network: NetworkId, mut chat: ChatMessage) -> Result<(), ChatError> {
    let (verdict, trace) = modules::traced_call::<FilterChat>(app, network, to_line(&chat)).await;
    let id = next_id(app, network).await;
    let said = chat.message.clone();
    let (decision, relayed) = match verdict.decision {
        Decision::Refuse(reason) => (Verdict::Refused, Err(ChatError::Rejected(reason))),
        Decision::Allow => (Verdict::Sent, publish(app, network, &chat).await),
        Decision::Rewrite(text) => {
            chat.message = Message::try_from(text).map_err(ChatError::InvalidRewrite)?;
            (Verdict::Rewritten, publish(app, network, &chat).await)
        }
    };
    if let Some(requested) = verdict.mute {
        let origin = trace.clone().map(PunishmentOrigin::from).unwrap_or_default();
        let origin = PunishmentOrigin { chat_id: id.map(|id| id.to_string()), ..origin };
        mute(app, network, &chat, requested, origin).await;
    }
    if relayed.is_ok() || decision == Verdict::Refused {
        let original = (decision == Verdict::Rewritten).then_some(said);
        record(app, network, id, ChatVerdict::new(chat, decision, original, trace.as_ref(), id)).await;
    }
    relayed
}

/// Id of the next line, if the network keeps it. A failure costs the history a line, and its sender nothing.
async fn next_id(app: &App, network: NetworkId) -> Option<i64> {
    let id = async {
        let keeps = limits::of(app, network).await?.chat_history_days() > 0;
        if keeps { history::next_id(app, network).await.map(Some) } else { Ok(None) }
    };
    id.await.unwrap_or_else(|error| {
        tracing::warn!(%error, %network, "could not keep a chat line");
        None
    })
}

/// Keeps a line and publishes the decision about it. Failures are only logged: the line was sent.
async fn record(app: &App, network: NetworkId, id: Option<i64>, line: ChatVerdict) {
    match events::is_wanted(app, network, EventKind::ChatVerdict).await {
        Ok(false) => {}
        Ok(true) => {
            if let Err(error) = events::publish(app, network, EventKind::ChatVerdict, None, &line).await {
                tracing::warn!(%error, %network, "could not publish the verdict on a chat line");
            }
        }
        Err(error) => tracing::warn!(%error, %network, "could not publish the verdict on a chat line"),
    }
    let Some(chat_id) = id else { return };
    let Ok(json) = serde_json::to_string(&line) else { return };
    let search_text = line.search_text();
    let ChatVerdict { player_uuid, server_id, .. } = line;
    let line =
        NewLine { chat_id, at: app.clock.now(), player: player_uuid, server: server_id, search_text, line: json };
    app.state::<ChatHistory>().add(network, line);
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
async fn mute(app: &App, network: NetworkId, chat: &ChatMessage, requested: Mute, origin: PunishmentOrigin) {
    let new = NewPunishment {
        target: Target::Player { id: chat.player_uuid, name: Some(chat.player_name.to_string()), ip_based: false },
        terms: PunishmentTerms {
            kind: PunishmentKind::Mute,
            reason: Some(requested.reason).filter(|reason| !reason.is_empty()),
            duration: Some(PunishmentDuration::clamped(requested.duration_ms)),
        },
        issuer: Actor { player: None, name: Some(ISSUER.to_owned()) },
    };
    if let Err(error) = review::create_because(app, network, new, Some(origin)).await {
        tracing::warn!(%error, %network, "could not create a mute requested by the chat filter");
    }
}

/// Requested lines of the history.
#[derive(Clone, Debug, Default)]
pub(super) struct Wanted {
    pub(super) player: Option<PlayerId>,
    pub(super) server: Option<Identifier>,
    /// In lower case.
    pub(super) search: Option<String>,
    /// Id after the last one.
    pub(super) before: Option<i64>,
}

/// Filter for lines that are not too old.
async fn filter(app: &App, network: NetworkId, wanted: Wanted) -> Result<Filter, hub_db::Error> {
    let days = limits::of(app, network).await?.chat_history_days();
    let oldest = app.clock.now().saturating_sub(days.saturating_mul(DAY));
    // Lines of this moment are not younger than nothing.
    let from = if days == 0 { i64::MAX } else { store::first_id(oldest) };
    let Wanted { player, server, search, before } = wanted;
    Ok(Filter { player, server, search, from, before: before.unwrap_or(i64::MAX) })
}

/// Lines, newest first, and their number.
pub(super) async fn list(
    app: &App,
    network: NetworkId,
    wanted: Wanted,
    place: (i64, i64),
) -> Result<(Vec<ChatLine>, i64), hub_db::Error> {
    history::flush(app, network).await?;
    store::page(&app.db, network, &filter(app, network, wanted).await?, place).await
}

/// Lines around an id: half of `limit` newer ones, the rest from it on; and the number of all.
pub(super) async fn list_around(
    app: &App,
    network: NetworkId,
    wanted: Wanted,
    around: i64,
    limit: i64,
) -> Result<(Vec<ChatLine>, i64), hub_db::Error> {
    history::flush(app, network).await?;
    let all = filter(app, network, wanted).await?;
    let newer = Filter { from: all.from.max(around + 1), ..all.clone() };
    let mut lines = store::oldest(&app.db, network, &newer, limit / 2).await?;
    let older = Filter { before: around + 1, ..all.clone() };
    let rest = limit - lines.len() as i64;
    lines.extend(store::page(&app.db, network, &older, (rest, 0)).await?.0);
    let (_, total) = store::page(&app.db, network, &all, (0, 0)).await?;
    Ok((lines, total))
}

/// The player's newest lines, newest first, before the caller's transaction has written anything.
pub(crate) async fn newest_of(
    app: &App,
    network: NetworkId,
    player: PlayerId,
    count: i64,
) -> Result<Vec<ChatLine>, hub_db::Error> {
    let wanted = Wanted { player: Some(player), ..Wanted::default() };
    Ok(list(app, network, wanted, (count, 0)).await?.0)
}

/// Drops lines with a searched text that are not stored yet.
pub async fn forget_texts(app: &App, network: NetworkId, is_looked_for: impl Fn(&str) -> bool) {
    history::forget_texts(app, network, is_looked_for).await;
}
