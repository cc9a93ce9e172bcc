//! Sends due mails once they are committed, and retries after a failure or a restart.

use std::time::Duration;

use thiserror::Error;

use crate::app::App;
use crate::background::when_due;
use crate::clock::Millis;
use crate::mail::MailError;
use crate::waitlist::Waitlist;
use crate::waitlist::model::{LINK_TTL, LinkToken};
use crate::waitlist::store::{self, DueMail};

/// Maximum number of mails to one address in an hour.
const MAX_PER_HOUR: i64 = 3;
const HOUR: Millis = 60 * 60 * 1000;
/// Maximum number of attempts at a mail. With the backoff between them, that takes a day and a half.
const MAX_ATTEMPTS: i64 = 12;
/// Pause after the first failure; it doubles with each one, up to the maximum.
const INITIAL_BACKOFF: Millis = 60 * 1000;
const MAX_BACKOFF: Millis = 4 * HOUR;
/// Another node may have made a mail due without waking this one.
const POLL_INTERVAL: Duration = Duration::from_secs(30);
const BATCH: i64 = 100;
const SUBJECT: &str = "Please confirm your place on the waitlist";

fn text(link: &str) -> String {
    format!(
        "Hello,\n\n\
         someone requested to join the waitlist of the Network Hub with this address.\n\n\
         If it was you, open this link within 48 hours:\n\n{link}\n\n\
         If it was not you, ignore this mail: the address is not used unless the link is opened.\n"
    )
}

/// Reason for which a mail is not sent now.
#[derive(Debug, Error)]
enum SendError {
    #[error(transparent)]
    Mail(#[from] MailError),
    #[error(transparent)]
    Database(#[from] hub_db::Error),
}

/// Sends mails until the hub stops.
pub(super) fn start(app: &App) {
    when_due(app, POLL_INTERVAL, |app| &app.state::<Waitlist>().wake, "send the mails that are due", send_due);
}

/// Sends all due mails. Returns the time of the next one.
async fn send_due(app: App) -> Result<Option<Millis>, hub_db::Error> {
    loop {
        let batch = store::due(&app.db, BATCH).await?;
        let now = app.clock.now();
        let next = batch.iter().map(|due| due.due_at).find(|at| now < *at);
        let due: Vec<_> = batch.into_iter().filter(|due| due.due_at <= now).collect();
        if due.is_empty() {
            if let Some(settled) = app.clock.settled() {
                store::delete_links(&app.db, settled.before(2 * LINK_TTL)).await?;
            }
            return Ok(next);
        }
        for due in due {
            match send(&app, &due).await {
                Ok(()) => {}
                Err(SendError::Database(error)) => return Err(error),
                // The address stays out of the log.
                Err(SendError::Mail(error)) => {
                    tracing::warn!(%error, attempt = due.attempts + 1, "could not send a mail");
                }
            }
        }
    }
}

async fn send(app: &App, due: &DueMail) -> Result<(), SendError> {
    let now = app.clock.now();
    let claimed_until = now.saturating_add(backoff(due.attempts));
    if !store::claim(&app.db, due, claimed_until).await? {
        return Ok(());
    }
    let folded = due.email_folded.as_str();
    if store::count_sent_since(&app.db, folded, now.saturating_sub(HOUR)).await? >= MAX_PER_HOUR {
        return Ok(finish(app, folded, claimed_until, None).await?);
    }
    let token = LinkToken::generate(&app.ids);
    store::insert_link(&app.db, &token.sha256, folded, now).await?;
    // From the settings: the caller controls the request's Host header, and the mail goes to another person.
    let link = app.settings.url(&format!("/api/public/waitlist/confirm?token={}", token.text));
    match app.mailer.send(&app.ids, &due.email, SUBJECT, text(&link)).await {
        Ok(()) => Ok(finish(app, folded, claimed_until, Some(&token.sha256)).await?),
        Err(error) => {
            if error.is_permanent() || due.attempts + 1 >= MAX_ATTEMPTS {
                finish(app, folded, claimed_until, None).await?;
            }
            Err(error.into())
        }
    }
}

/// Ends the attempts at a mail; `sent` is the hash of its link.
async fn finish(app: &App, folded: &str, claimed_until: Millis, sent: Option<&[u8]>) -> Result<(), hub_db::Error> {
    app.db
        .transaction(async |mut tx| {
            if let Some(sha256) = sent {
                store::set_sent(&mut tx, sha256, app.clock.now()).await?;
            }
            store::clear_due(&mut tx, folded, claimed_until).await
        })
        .await
}

/// Pause after a failed attempt.
fn backoff(attempts: i64) -> Millis {
    let doubled = INITIAL_BACKOFF.saturating_mul(1 << attempts.clamp(0, 20));
    doubled.min(MAX_BACKOFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backoff_doubles_within_two_days() {
        assert_eq!((backoff(0), backoff(1), backoff(100)), (60_000, 120_000, MAX_BACKOFF));
        let all: Millis = (0..MAX_ATTEMPTS).map(backoff).sum();
        assert!(all < LINK_TTL, "{all}");
    }
}
