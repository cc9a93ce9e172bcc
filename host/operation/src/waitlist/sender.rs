//! Sends due mails once they are committed, and retries after a failure or a restart.

use std::time::Duration;

use hub_db::Tx;

use crate::app::App;
use crate::auth::OPERATOR_NETWORK;
use crate::clock::Millis;
use crate::jobs::{self, Backoff, Job, JobError, JobKind, JobOutcome, NewJob, RunsAt};
use crate::waitlist::model::LinkToken;
use crate::waitlist::store;

/// Maximum number of mails to one address in an hour.
const MAX_PER_HOUR: i64 = 3;
const HOUR: Millis = 60 * 60 * 1000;
const SUBJECT: &str = "Please confirm your place on the waitlist";

/// Mails with links. With the pauses, the attempts take a day and a half: less than a link works.
static MAIL: JobKind = JobKind {
    name: "waitlist-mail",
    runs_at: RunsAt::AnyNode,
    is_of_hub: true,
    concurrency: 4,
    backoff: Backoff { first: Duration::from_mins(1), longest: Duration::from_hours(4) },
    max_attempts: Some(12),
};

fn text(link: &str) -> String {
    format!(
        "Hello,\n\n\
         someone requested to join the waitlist of the Network Hub with this address.\n\n\
         If it was you, open this link within 48 hours:\n\n{link}\n\n\
         If it was not you, ignore this mail: the address is not used unless the link is opened.\n"
    )
}

/// Sends mails until the hub stops.
pub(super) fn start(app: &App) {
    jobs::work(app, &MAIL, send);
}

/// Queues the mail to an address, unless it is queued already.
pub(super) async fn enqueue(app: &App, tx: &mut Tx, folded: &str) -> Result<(), hub_db::Error> {
    jobs::enqueue_and_wake(app, tx, &NewJob::new(&MAIL, OPERATOR_NETWORK, folded)).await
}

/// Deletes the mail to an address, if it is queued.
pub(super) async fn cancel(tx: &mut Tx, folded: &str) -> Result<(), hub_db::Error> {
    jobs::cancel(tx, OPERATOR_NETWORK, &MAIL, folded).await
}

async fn send(app: App, job: Job) -> Result<JobOutcome, JobError> {
    let (folded, now) = (job.key.as_str(), app.clock.now());
    let Some(email) = store::unconfirmed_email(&app.db, folded).await? else { return Ok(JobOutcome::Done) };
    if store::count_sent_since(&app.db, folded, now.saturating_sub(HOUR)).await? >= MAX_PER_HOUR {
        return Ok(JobOutcome::Done);
    }
    let token = LinkToken::generate(&app.ids);
    store::insert_link(&app.db, &token.sha256, folded, now).await?;
    // From the settings: the caller controls the request's Host header, and the mail goes to another person.
    let link = app.settings.url(&format!("/api/public/waitlist/confirm?token={}", token.text));
    // The address stays out of the log.
    match app.mailer.send(&app.ids, &email, SUBJECT, text(&link)).await {
        Ok(()) => store::set_sent(&app.db, &token.sha256, app.clock.now()).await?,
        Err(error) if error.is_permanent() => return Err(JobError::permanent(&error)),
        Err(error) => return Err(error.into()),
    }
    Ok(JobOutcome::Done)
}
