//! Sends the mails that are due, after what made them due was committed, and again after a failure or a restart.

use std::time::Duration;

use thiserror::Error;

use crate::app::App;
use crate::clock::{Millis, millis};
use crate::waitlist::mail::MailError;
use crate::waitlist::model::{LINK_LIVES, Token};
use crate::waitlist::store::{self, Due};

/// How many mails an address gets in an hour at most, however often somebody asks.
const MOST_AN_HOUR: i64 = 3;
const HOUR: Millis = 60 * 60 * 1000;
/// How often a mail is tried. With the pauses between, that takes a day and a half.
const MOST_ATTEMPTS: i64 = 12;
/// The pause after the first failure; each one after is twice as long, up to the longest.
const FIRST_PAUSE: Millis = 60 * 1000;
const LONGEST_PAUSE: Millis = 4 * HOUR;
/// Another node may have made a mail due without this one hearing of it.
const LOOK_EVERY: Duration = Duration::from_secs(30);
const BATCH: i64 = 100;

/// Why a mail is not sent now.
#[derive(Debug, Error)]
enum SendError {
    #[error(transparent)]
    Mail(#[from] MailError),
    #[error(transparent)]
    Database(#[from] hub_db::Error),
}

/// Runs until the hub stops.
pub(super) async fn run(app: App) {
    loop {
        let now = app.clock.now();
        let step = now.saturating_add(millis(LOOK_EVERY));
        let next = match send_due(&app).await {
            Ok(due) => due.map_or(step, |due| due.min(step)),
            Err(error) => {
                tracing::warn!(%error, "could not look for mails that are due");
                step
            }
        };
        tokio::select! {
            () = app.clock.sleep_until(next) => {}
            () = app.waitlist.wake.notified() => {}
        }
    }
}

/// Sends all that is due; when the next one is.
async fn send_due(app: &App) -> Result<Option<Millis>, hub_db::Error> {
    loop {
        let batch = store::due(&app.db, BATCH).await?;
        let now = app.clock.now();
        let next = batch.iter().map(|due| due.due_at).find(|at| now < *at);
        let due: Vec<_> = batch.into_iter().filter(|due| due.due_at <= now).collect();
        if due.is_empty() {
            store::forget_links(&app.db, now.saturating_sub(2 * LINK_LIVES)).await?;
            return Ok(next);
        }
        for due in due {
            match send(app, &due).await {
                Ok(()) => {}
                Err(SendError::Database(error)) => return Err(error),
                // The address stays out of the log.
                Err(SendError::Mail(error)) => {
                    tracing::warn!(%error, attempt = due.attempts + 1, "a mail was not sent");
                }
            }
        }
    }
}

async fn send(app: &App, due: &Due) -> Result<(), SendError> {
    let now = app.clock.now();
    let claimed = now.saturating_add(pause_after(due.attempts));
    if !store::claim(&app.db, due, claimed).await? {
        return Ok(());
    }
    let folded = due.email_folded.as_str();
    if store::sent_since(&app.db, folded, now.saturating_sub(HOUR)).await? >= MOST_AN_HOUR {
        return Ok(settle(app, folded, claimed, None).await?);
    }
    let token = Token::fresh(&app.ids);
    store::add_link(&app.db, token.sha256.clone(), folded, now).await?;
    // Never the address a caller named: the mail goes to somebody else.
    let link = app.settings.url(&format!("/api/public/waitlist/confirm?token={}", token.text));
    match app.waitlist.mailer.ask(&app.ids, &due.email, &link).await {
        Ok(()) => Ok(settle(app, folded, claimed, Some(token.sha256)).await?),
        Err(error) => {
            if error.is_final() || due.attempts + 1 >= MOST_ATTEMPTS {
                settle(app, folded, claimed, None).await?;
            }
            Err(error.into())
        }
    }
}

/// The mail needs no more attention; it went out if there is a link.
async fn settle(app: &App, folded: &str, claimed: Millis, sent: Option<Vec<u8>>) -> Result<(), hub_db::Error> {
    app.db
        .transaction(async |mut tx| {
            if let Some(sha256) = &sent {
                store::note_sent(&mut tx, sha256.clone(), app.clock.now()).await?;
            }
            store::settle(&mut tx, folded, claimed).await
        })
        .await
}

/// How long after an attempt the next one is, if it comes to that.
fn pause_after(attempts: i64) -> Millis {
    let doubled = FIRST_PAUSE.saturating_mul(1 << attempts.clamp(0, 20));
    doubled.min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_the_last_attempt_is_within_two_days() {
        assert_eq!((pause_after(0), pause_after(1), pause_after(100)), (60_000, 120_000, LONGEST_PAUSE));
        let all: Millis = (0..MOST_ATTEMPTS).map(pause_after).sum();
        assert!(all < LINK_LIVES, "{all}");
    }
}
