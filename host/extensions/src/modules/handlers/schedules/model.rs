//! Schedules, their ticks and timers.

use hub_sandbox::contract::schedules::Tick;
use hub_sandbox::manifest::{CatchUp, Cron};
use serde::{Deserialize, Serialize};

use crate::clock::Millis;
use crate::modules::handlers::call_id::call_of;
use crate::modules::handlers::model::{QueueRow, QueuedEvent};
use crate::values::{NetworkId, PlayerId};

/// A schedule's row.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(in crate::modules) struct ScheduleRow {
    pub(in crate::modules) module: String,
    pub(in crate::modules) name: String,
    pub(in crate::modules) cron: String,
    pub(in crate::modules) catch_up: String,
    /// First tick that has neither begun nor been missed.
    pub(in crate::modules) next_at: Option<Millis>,
    /// Ticks that were due before are missed.
    pub(in crate::modules) free_at: Millis,
    /// Ticks that were missed since the last one that ran.
    pub(in crate::modules) missed: i64,
    pub(in crate::modules) run_seq: Option<i64>,
    /// JSON of the [`Run`] under way.
    pub(in crate::modules) run: Option<String>,
    /// JSON of the last [`Run`].
    pub(in crate::modules) last_run: Option<String>,
}

impl ScheduleRow {
    /// Its times; none if a newer hub wrote them.
    pub(super) fn cron(&self) -> Option<Cron> {
        self.cron.parse().ok()
    }

    pub(super) fn catch_up(&self) -> CatchUp {
        match self.catch_up.as_str() {
            "SKIP" => CatchUp::Skip,
            "ALL" => CatchUp::All,
            _ => CatchUp::Once,
        }
    }

    /// Tick under way, with its number.
    pub(in crate::modules) fn running(&self) -> Option<(i64, Run)> {
        Some((self.run_seq?, serde_json::from_str(self.run.as_deref()?).ok()?))
    }

    /// Tick under way, or the last one.
    pub(in crate::modules) fn latest(&self) -> Option<Run> {
        self.running().map(|(_, run)| run).or_else(|| serde_json::from_str(self.last_run.as_deref()?).ok())
    }
}

/// Name of a rule for missed ticks in the database.
pub(super) const fn catch_up_name(catch_up: CatchUp) -> &'static str {
    match catch_up {
        CatchUp::Skip => "SKIP",
        CatchUp::Once => "ONCE",
        CatchUp::All => "ALL",
    }
}

/// Outcome of a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(in crate::modules) enum Outcome {
    Running,
    Ok,
    /// It is a dead letter.
    Failed,
    /// It did not run.
    Missed,
}

/// A tick of a schedule that is under way or has ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::modules) struct Run {
    pub(in crate::modules) due_at: Millis,
    pub(in crate::modules) started_at: Option<Millis>,
    pub(in crate::modules) ended_at: Option<Millis>,
    pub(in crate::modules) outcome: Outcome,
    /// Attempts that have ended.
    pub(in crate::modules) attempts: i64,
    /// Ticks that were missed before it and are not made up for.
    pub(in crate::modules) missed: i64,
    pub(in crate::modules) manual: bool,
    pub(in crate::modules) call_id: Option<String>,
    /// Number of effects.
    pub(in crate::modules) effects: i64,
    /// Code of the last failure.
    pub(in crate::modules) code: Option<String>,
}

impl Run {
    /// A tick that begins now.
    pub(super) fn begin(due_at: Millis, missed: i64, manual: bool, call_id: String, now: Millis) -> Self {
        Self {
            due_at,
            started_at: Some(now),
            ended_at: None,
            outcome: Outcome::Running,
            attempts: 0,
            missed,
            manual,
            call_id: Some(call_id),
            effects: 0,
            code: None,
        }
    }

    /// Ticks that did not run, of which this was the last.
    pub(super) fn missed(due_at: Millis, missed: i64) -> Self {
        Self {
            started_at: None,
            outcome: Outcome::Missed,
            call_id: None,
            ..Self::begin(due_at, missed, false, String::new(), due_at)
        }
    }

    /// Its JSON in the database.
    pub(in crate::modules::handlers) fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The tick as a module gets it, in the form of what other calls handle.
    pub(super) fn to_event(&self, network: NetworkId, module: &str, name: &str, seq: i64) -> QueuedEvent {
        let tick = Tick {
            schedule: name.to_owned(),
            due_at_ms: u64::try_from(self.due_at).unwrap_or(0),
            missed: u32::try_from(self.missed).unwrap_or(u32::MAX),
            manual: self.manual,
        };
        let data = serde_json::to_string(&tick).unwrap_or_default();
        root_event(network, module, (name, data, self.due_at), seq)
    }

    pub(super) fn to_row(&self, name: &str, seq: i64) -> QueueRow {
        QueueRow {
            seq,
            event_key: name.to_owned(),
            attempts: self.attempts,
            due_at: self.due_at,
            queued_at: self.started_at.unwrap_or(self.due_at),
        }
    }
}

/// An event that begins a chain of causes of its own.
fn root_event(network: NetworkId, module: &str, (name, data, at): (&str, String, Millis), seq: i64) -> QueuedEvent {
    QueuedEvent {
        seq,
        name: name.to_owned(),
        data,
        at,
        player_uuid: None,
        player_name: None,
        server_id: None,
        depth: 0,
        root_id: call_of(network, module, seq).0,
        cause: None,
    }
}

/// A timer's row.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(in crate::modules) struct TimerRow {
    pub(in crate::modules) module: String,
    /// Its key.
    pub(in crate::modules) timer: String,
    pub(in crate::modules) seq: i64,
    pub(in crate::modules) fires_at: Millis,
    pub(in crate::modules) payload: String,
    pub(in crate::modules) player_uuid: Option<PlayerId>,
    pub(in crate::modules) set_at: Millis,
    /// Failed attempts.
    pub(in crate::modules) attempts: i64,
}

impl TimerRow {
    pub(super) fn to_event(&self, network: NetworkId) -> QueuedEvent {
        let fields = (self.timer.as_str(), self.payload.clone(), self.fires_at);
        QueuedEvent { player_uuid: self.player_uuid, ..root_event(network, &self.module, fields, self.seq) }
    }

    pub(super) fn to_row(&self) -> QueueRow {
        QueueRow {
            seq: self.seq,
            event_key: self.timer.clone(),
            attempts: self.attempts,
            due_at: self.fires_at,
            queued_at: self.set_at,
        }
    }
}
