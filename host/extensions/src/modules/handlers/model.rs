//! Handlers, their events and dead letters.

use hub_sandbox::contract::Cause;
use hub_sandbox::manifest::Order;
use serde::{Deserialize, Serialize};

use crate::clock::Millis;
use crate::values::PlayerId;

/// Greatest depth of an event that is handed to a module.
pub(super) const MAX_DEPTH: i64 = 4;

/// A handler's row.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(in crate::modules) struct HandlerRow {
    pub(in crate::modules) module: String,
    pub(in crate::modules) event_order: String,
    pub(in crate::modules) events: String,
    pub(in crate::modules) handles_own: bool,
    /// Last event of the order before.
    pub(in crate::modules) barrier: i64,
    /// Time until which its events are queued though it is in no chain.
    pub(in crate::modules) kept_until: Option<Millis>,
    #[sqlx(flatten)]
    pub(in crate::modules) counts: HandlerCounts,
}

/// Counts of a handler, which belong to its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, sqlx::FromRow)]
pub(in crate::modules) struct HandlerCounts {
    pub(in crate::modules) delivered: i64,
    pub(in crate::modules) retried: i64,
    pub(in crate::modules) skipped: i64,
    pub(in crate::modules) too_deep: i64,
    pub(in crate::modules) conflicts: i64,
    pub(in crate::modules) dropped_dead_letters: i64,
}

impl HandlerCounts {
    /// True if nothing was counted.
    pub(super) fn is_zero(&self) -> bool {
        *self == Self::default()
    }

    /// Sum with other counts.
    pub(super) fn plus(&self, other: &Self) -> Self {
        Self {
            delivered: self.delivered + other.delivered,
            retried: self.retried + other.retried,
            skipped: self.skipped + other.skipped,
            too_deep: self.too_deep + other.too_deep,
            conflicts: self.conflicts + other.conflicts,
            dropped_dead_letters: self.dropped_dead_letters + other.dropped_dead_letters,
        }
    }
}

/// A handler that was taken out of its chain, and whose events are still queued.
#[derive(Clone, Debug)]
pub(in crate::modules) struct KeptHandler {
    pub(in crate::modules) name: String,
    pub(in crate::modules) until: Millis,
    pub(in crate::modules) lag_events: i64,
}

/// Name of an order in the database and in manifests.
pub(super) const fn order_name(order: Order) -> &'static str {
    match order {
        Order::Player => "PLAYER",
        Order::Server => "SERVER",
        Order::Network => "NETWORK",
    }
}

/// Order of this name.
pub(super) fn order_by_name(name: &str) -> Order {
    match name {
        "SERVER" => Order::Server,
        "NETWORK" => Order::Network,
        _ => Order::Player,
    }
}

/// A module's call that caused an event, with the event's place among its causes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::modules) struct EventCause {
    #[serde(flatten)]
    pub(in crate::modules) call: Cause,
    /// Number of calls that led to the event.
    pub(in crate::modules) depth: i64,
    pub(in crate::modules) root_id: String,
}

/// An event that waits for handlers.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(in crate::modules) struct QueuedEvent {
    pub(in crate::modules) seq: i64,
    pub(in crate::modules) name: String,
    pub(in crate::modules) data: String,
    pub(in crate::modules) at: Millis,
    pub(in crate::modules) player_uuid: Option<PlayerId>,
    pub(in crate::modules) player_name: Option<String>,
    pub(in crate::modules) server_id: Option<String>,
    pub(in crate::modules) depth: i64,
    pub(in crate::modules) root_id: String,
    pub(in crate::modules) cause: Option<String>,
}

impl QueuedEvent {
    /// Id of the event: unique in the network, the same for all modules and attempts.
    pub(in crate::modules) fn id(&self) -> String {
        event_id(self.at, self.seq)
    }

    pub(super) fn cause(&self) -> Option<EventCause> {
        serde_json::from_str(self.cause.as_deref()?).ok()
    }
}

/// Id of an event of this time and number.
pub(super) fn event_id(at: Millis, seq: i64) -> String {
    format!("{at}-{seq}")
}

/// Row of a queue.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct QueueRow {
    pub(super) seq: i64,
    pub(super) event_key: String,
    /// Failed attempts.
    pub(super) attempts: i64,
    pub(super) due_at: Millis,
    pub(super) queued_at: Millis,
}

/// Kind of a dead letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::modules) enum LetterKind {
    Event,
    /// A tick of a schedule.
    Tick,
    Timer,
    Overflow,
}

impl LetterKind {
    /// Name in the API and the database.
    pub(in crate::modules) const fn as_str(self) -> &'static str {
        match self {
            Self::Event => "EVENT",
            Self::Tick => "TICK",
            Self::Timer => "TIMER",
            Self::Overflow => "OVERFLOW",
        }
    }
}

impl LetterKind {
    /// Kind of a dead letter that can be retried; EVENT for any other.
    pub(super) fn of_letter(letter: &DeadLetterRow) -> Self {
        let kinds = [Self::Tick, Self::Timer];
        kinds.into_iter().find(|kind| kind.as_str() == letter.kind).unwrap_or(Self::Event)
    }
}

/// Dead letter as stored.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(in crate::modules) struct DeadLetterRow {
    pub(in crate::modules) module: String,
    pub(in crate::modules) id: i64,
    pub(in crate::modules) version: i64,
    pub(in crate::modules) kind: String,
    pub(in crate::modules) event_key: String,
    pub(in crate::modules) first_at: Millis,
    /// Time of the last failure.
    #[sqlx(rename = "failed_at")]
    pub(in crate::modules) at: Millis,
    pub(in crate::modules) attempts: i64,
    pub(in crate::modules) code: String,
    pub(in crate::modules) message: String,
    pub(in crate::modules) effect: Option<i64>,
    pub(in crate::modules) reason: Option<String>,
    pub(in crate::modules) call_id: String,
    pub(in crate::modules) seq: i64,
    pub(in crate::modules) name: Option<String>,
    pub(in crate::modules) data: Option<String>,
    pub(in crate::modules) event_at: Option<Millis>,
    pub(in crate::modules) player_uuid: Option<PlayerId>,
    pub(in crate::modules) player_name: Option<String>,
    pub(in crate::modules) server_id: Option<String>,
    pub(in crate::modules) depth: i64,
    pub(in crate::modules) root_id: String,
    pub(in crate::modules) cause: Option<String>,
    pub(in crate::modules) first_id: Option<String>,
    pub(in crate::modules) last_id: Option<String>,
    pub(in crate::modules) lost: i64,
}

impl DeadLetterRow {
    /// The event that was not handled, or the tick or timer in its form; none of an OVERFLOW.
    pub(in crate::modules) fn event(&self) -> Option<QueuedEvent> {
        Some(QueuedEvent {
            seq: self.seq,
            name: self.name.clone()?,
            data: self.data.clone()?,
            at: self.event_at?,
            player_uuid: self.player_uuid,
            player_name: self.player_name.clone(),
            server_id: self.server_id.clone(),
            depth: self.depth,
            root_id: self.root_id.clone(),
            cause: self.cause.clone(),
        })
    }
}
