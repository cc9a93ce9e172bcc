//! Reachability of the database, derived from lease refreshes.

use std::time::Duration;

use parking_lot::Mutex;

use crate::clock::Uptime;

/// Time of the database's last answer.
#[derive(Debug)]
pub(super) struct DatabaseContact(Mutex<Uptime>);

impl DatabaseContact {
    /// State of a node that has just read its clock.
    pub(super) fn new() -> Self {
        Self(Mutex::new(Uptime::now()))
    }

    /// Records an answer of the database.
    pub(super) fn note(&self) {
        *self.0.lock() = Uptime::now();
    }

    /// Waits until the database has been silent for `silence` and then for `grace`. The grace starts now: after a
    /// pause of the process the database may answer immediately.
    pub(super) async fn lost(&self, silence: Duration, grace: Duration) {
        loop {
            let answered = *self.0.lock();
            let left = (answered + silence).saturating_since(Uptime::now());
            if !left.is_zero() {
                tokio::time::sleep(left).await;
                continue;
            }
            tokio::time::sleep(grace).await;
            if *self.0.lock() == answered {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRACE: Duration = Duration::from_millis(20);

    #[tokio::test]
    async fn a_database_is_lost_when_it_has_been_silent_for_long_and_still_is() {
        let contact = DatabaseContact::new();
        let is_lost = async |silence| tokio::time::timeout(10 * GRACE, contact.lost(silence, GRACE)).await.is_ok();
        assert!(is_lost(GRACE).await);
        assert!(!is_lost(100 * GRACE).await);
        let answering = async {
            loop {
                contact.note();
                tokio::time::sleep(GRACE / 4).await;
            }
        };
        tokio::select! {
            is_lost = is_lost(GRACE) => assert!(!is_lost),
            () = answering => {}
        }
    }
}
