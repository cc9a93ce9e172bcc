//! Sends invitations and resets once they are committed, and retries after a failure or a restart.

use std::time::Duration;

use crate::app::App;
use crate::background::when_due;
use crate::clock::Millis;
use crate::people::model::{LinkKind, LinkRow, TOKEN_LENGTH, hash};
use crate::people::{People, store};

/// Maximum number of attempts at a mail. With the backoff between them, that takes some hours.
const MAX_ATTEMPTS: i64 = 8;
/// Pause after the first failure; it doubles with each one.
const INITIAL_BACKOFF: Millis = 60 * 1000;
/// Another node may have made a mail due without waking this one.
const POLL_INTERVAL: Duration = Duration::from_secs(30);
const BATCH: i64 = 100;

/// Sends mails until the hub stops.
pub(super) fn start(app: &App) {
    when_due(app, POLL_INTERVAL, |app| &app.state::<People>().wake, "send the mails to people that are due", send_due);
}

/// Sends all due mails. Returns the time of the next one.
async fn send_due(app: App) -> Result<Option<Millis>, hub_db::Error> {
    loop {
        let batch = store::due(&app.db, BATCH).await?;
        let now = app.clock.now();
        let next = batch.iter().filter_map(|link| link.due_at).find(|at| now < *at);
        let due: Vec<_> = batch.into_iter().filter(|link| link.due_at.is_some_and(|at| at <= now)).collect();
        if due.is_empty() {
            return Ok(next);
        }
        for link in due {
            send(&app, &link).await?;
        }
    }
}

async fn send(app: &App, link: &LinkRow) -> Result<(), hub_db::Error> {
    let now = app.clock.now();
    let token = app.ids.token(TOKEN_LENGTH);
    let backoff = INITIAL_BACKOFF.saturating_mul(1 << link.attempts.clamp(0, 20));
    if !store::claim(&app.db, link, &hash(&token), now.saturating_add(backoff)).await? {
        return Ok(());
    }
    let network = store::network_name(&app.db, link.network_id).await?;
    let (subject, text) = mail(app, link, network.as_deref(), &token);
    match app.mailer.send(&app.ids, &link.email, &subject, text).await {
        Ok(()) => store::clear_due(&app.db, link).await,
        // The address stays out of the log.
        Err(error) => {
            tracing::warn!(%error, attempt = link.attempts + 1, "could not send a mail to a person");
            if error.is_permanent() || link.attempts + 1 >= MAX_ATTEMPTS {
                store::clear_due(&app.db, link).await?;
            }
            Ok(())
        }
    }
}

/// Links begin with the configured URL, never with a request's Host header, which the caller controls while the mail
/// goes to another person.
fn mail(app: &App, link: &LinkRow, network: Option<&str>, token: &str) -> (String, String) {
    if link.is(LinkKind::Reset) {
        let url = app.settings.url("/api/people/password/reset");
        let text = format!(
            "Hello,\n\n\
             someone requested a password reset for this address at the Network Hub.\n\n\
             If it was you, set a new password within an hour, with this code:\n\n{token}\n\n\
             If no page asks for the code, send it to {url}:\n\n\
             {{\"token\": \"{token}\", \"password\": \"a new one\"}}\n\n\
             You will be signed out everywhere. If it was not you, ignore this mail.\n"
        );
        return ("Reset your password at the Network Hub".to_owned(), text);
    }
    let place =
        network.map_or_else(|| "the Network Hub, as an operator".to_owned(), |name| format!("the network {name}"));
    let role = link.role.as_deref().map_or(String::new(), |role| format!(" as {role}"));
    let (accept, join) = (app.settings.url("/api/people/accept"), app.settings.url("/api/people/join"));
    let by_openid = app.state::<People>().openid.as_ref().map_or(String::new(), |_| {
        let url = app.settings.url(&format!("/api/people/openid/sign-in?invitation={token}"));
        format!("To sign in without a password, accept by this link:\n\n{url}\n\n")
    });
    let text = format!(
        "Hello,\n\n\
         you are invited to {place}{role}.\n\n\
         Accept within seven days, with this code:\n\n{token}\n\n\
         {by_openid}\
         If no page asks for the code, send it to {accept}:\n\n\
         {{\"token\": \"{token}\", \"name\": \"your name\", \"password\": \"a new password\"}}\n\n\
         If you already have an account, sign in and send {{\"token\": \"{token}\"}} to {join}.\n"
    );
    ("You are invited to the Network Hub".to_owned(), text)
}
