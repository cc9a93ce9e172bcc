//! Saves of a session: one at a time, each until it is answered.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::sleep;
use tracing::warn;

use super::visit::{State, Visit};
use super::{Data, DataUpdate, EndReason, stale_session};
use crate::connector::session::is_passing;
use crate::model::{PlayerSessionSave, SavedSession, SessionData};
use crate::{HubError, RetryPolicy};

const DELAYS: RetryPolicy = RetryPolicy::delays(1, 250, 5_000);
const CLAIMS_AT_ONCE: usize = 32;

/// A caller that waits for everything up to a flush.
pub(super) struct Waiting {
    pub(super) flush: u64,
    pub(super) sender: oneshot::Sender<Result<(), HubError>>,
}

/// One save, which is sent until it is answered.
#[derive(Clone)]
struct Save {
    data: BTreeMap<String, String>,
    claims: Vec<String>,
    close: bool,
    flush: u64,
}

impl Visit {
    /// Saves what is captured until the session is closed or lost.
    pub(super) async fn save_until_closed(&self, data: &Data) {
        while !self.state.lock().is_lost {
            let save = self.state.lock().next_save();
            let Some(save) = save else {
                self.wake.notified().await;
                continue;
            };
            let is_last = save.close;
            self.send(data, save).await;
            if is_last {
                break;
            }
        }
        let mut state = self.state.lock();
        for waiting in std::mem::take(&mut state.waiting) {
            // Nobody may wait any more.
            let _ = waiting.sender.send(Err(stale_session()));
        }
        data.tell(DataUpdate::Lost(std::mem::take(&mut state.claims)));
    }

    async fn send(&self, data: &Data, save: Save) {
        let (mut sent, mut is_separate) = (save.clone(), false);
        let mut attempts = 0;
        let mut must_number = true;
        loop {
            let (fence, number) = {
                let mut state = self.state.lock();
                if state.is_lost {
                    return;
                }
                state.number += u64::from(must_number);
                (state.fence.unwrap_or_default(), state.number)
            };
            must_number = true;
            let body = sent.body(data, number);
            let Err(error) = data.link.send(self.attempt(data, fence, &body)).await else {
                let claims = save.claims.clone();
                data.tell(if is_separate { DataUpdate::Separate(claims) } else { DataUpdate::Saved(claims) });
                return self.state.lock().done(&save, None);
            };
            attempts += 1;
            match error.code() {
                "stale_session" => return self.lose(data),
                "stale_claim" => {
                    // They are completed one by one, once their effects are stored.
                    sent.claims.clear();
                    is_separate = true;
                }
                "stale_save" => {}
                _ if is_passing(&error) => {
                    // The same one again.
                    must_number = false;
                    let usual = if error.is_transient() { Duration::ZERO } else { DELAYS.delay(attempts) };
                    sleep(error.retry_after().unwrap_or(usual)).await;
                }
                _ => {
                    warn!("the hub refuses to save player {}: {}", self.player, error.message());
                    self.state.lock().done(&save, Some(&error));
                    let claims = save.claims.clone();
                    // Data that a closing save does not store is gone; else the player has it.
                    data.tell(if save.close { DataUpdate::Lost(claims) } else { DataUpdate::Refused(claims) });
                    if !save.close || sent.data.is_empty() && sent.claims.is_empty() {
                        return;
                    }
                    // The player is not held because of it.
                    (sent.data, sent.claims) = (BTreeMap::new(), Vec::new());
                    self.tell(data, EndReason::Refused);
                }
            }
        }
    }

    async fn attempt(&self, data: &Data, fence: i64, body: &PlayerSessionSave) -> Result<SavedSession, HubError> {
        data.client.save_player_session(self.player, fence, body).await
    }
}

impl Save {
    fn body(&self, data: &Data, number: u64) -> PlayerSessionSave {
        let entry = |(namespace, text): (&String, &String)| SessionData {
            data: text.clone(),
            game_mode: data.game_mode.clone(),
            namespace: namespace.clone(),
        };
        PlayerSessionSave {
            close: Some(self.close),
            complete: Some(self.claims.clone()),
            data: Some(self.data.iter().map(entry).collect()),
            number: Some(number),
        }
    }
}

impl State {
    fn next_save(&mut self) -> Option<Save> {
        let is_changed = |(name, text): &(&String, &String)| self.saved.get(*name) != Some(*text);
        let changed = self.current.iter().filter(is_changed).map(|(name, text)| (name.clone(), text.clone()));
        let data: BTreeMap<_, _> = changed.collect();
        let claims: Vec<_> = self.claims.iter().take(CLAIMS_AT_ONCE).cloned().collect();
        let flush = self.flushes;
        if self.is_closing {
            let close = claims.len() == self.claims.len();
            return Some(Save { data, claims, close, flush });
        }
        if flush == self.flushed {
            return None;
        }
        if !data.is_empty() || !claims.is_empty() {
            return Some(Save { data, claims, close: false, flush });
        }
        self.flushed = flush;
        self.settle(None);
        None
    }

    /// Notes a save that was answered. What was refused is not sent again, unless it changes.
    fn done(&mut self, save: &Save, error: Option<&HubError>) {
        self.saved.extend(save.data.iter().map(|(name, text)| (name.clone(), text.clone())));
        self.claims.retain(|claim| !save.claims.contains(claim));
        self.flushed = save.flush;
        self.settle(error);
    }

    /// Answers those who wait for what is saved.
    pub(super) fn settle(&mut self, error: Option<&HubError>) {
        let flushed = self.flushed;
        let (ready, waiting) = std::mem::take(&mut self.waiting).into_iter().partition(|each| each.flush <= flushed);
        self.waiting = waiting;
        for each in ready {
            let refused = error.map(|error| HubError::Connector { code: "not_saved", message: error.message() });
            // Nobody may wait any more.
            let _ = each.sender.send(refused.map_or(Ok(()), Err));
        }
    }
}
