//! Sends invitations and resets once they are committed, and retries after a failure or a restart.

use std::time::Duration;

use hub_db::Tx;

use crate::app::App;
use crate::jobs::{self, Backoff, Job, JobError, JobKind, JobOutcome, NewJob, RunsAt};
use crate::people::model::{LinkKind, LinkRow, TOKEN_LENGTH, hash};
use crate::people::{People, store};

/// Mails with links. With the pauses, the attempts take some hours.
static MAIL: JobKind = JobKind {
    name: "person-mail",
    runs_at: RunsAt::AnyNode,
    is_of_hub: false,
    concurrency: 4,
    backoff: Backoff { first: Duration::from_mins(1), longest: Duration::from_hours(2) },
    max_attempts: Some(8),
};

/// Sends mails until the hub stops.
pub(super) fn start(app: &App) {
    jobs::work(app, &MAIL, send);
}

/// Queues the mail with a link.
pub(super) async fn enqueue(app: &App, tx: &mut Tx, link: &LinkRow) -> Result<(), hub_db::Error> {
    jobs::enqueue_and_wake(app, tx, &NewJob::new(&MAIL, link.network_id, &link.link_id)).await
}

async fn send(app: App, job: Job) -> Result<JobOutcome, JobError> {
    let token = app.ids.token(TOKEN_LENGTH);
    // A link that was deleted needs no mail.
    let Some(link) = store::set_token(&app.db, job.network, &job.key, &hash(&token)).await? else {
        return Ok(JobOutcome::Done);
    };
    let network = store::network_name(&app.db, link.network_id).await?;
    let (subject, text) = mail(&app, &link, network.as_deref(), &token);
    // The address stays out of the log.
    match app.mailer.send(&app.ids, &link.email, &subject, text).await {
        Ok(()) => Ok(JobOutcome::Done),
        Err(error) if error.is_permanent() => Err(JobError::permanent(&error)),
        Err(error) => Err(error.into()),
    }
}

/// Links begin with the configured URL, never with a request's Host header, which the caller controls while the mail
/// goes to another person.
fn mail(app: &App, link: &LinkRow, network: Option<&str>, token: &str) -> (String, String) {
    if link.is(LinkKind::Reset) {
        let url = app.settings.url("/api/people/password/reset");
        let page = app.settings.url(&format!("/console/password/reset?token={token}"));
        let text = format!(
            "Hello,\n\n\
             someone requested a password reset for this address at the Network Hub.\n\n\
             If it was you, set a new password within an hour:\n\n{page}\n\n\
             Its code is\n\n{token}\n\n\
             Programs send it to {url}:\n\n\
             {{\"token\": \"{token}\", \"password\": \"a new one\"}}\n\n\
             You will be signed out everywhere. If it was not you, ignore this mail.\n"
        );
        return ("Reset your password at the Network Hub".to_owned(), text);
    }
    let place =
        network.map_or_else(|| "the Network Hub, as an operator".to_owned(), |name| format!("the network {name}"));
    let role = link.role.as_deref().map_or(String::new(), |role| format!(" as {role}"));
    let (accept, join) = (app.settings.url("/api/people/accept"), app.settings.url("/api/people/join"));
    let page = app.settings.url(&format!("/console/accept?token={token}"));
    let by_openid = app.state::<People>().openid.as_ref().map_or(String::new(), |_| {
        let url = app.settings.url(&format!("/api/people/openid/sign-in?invitation={token}"));
        format!("To sign in without a password, accept by this link:\n\n{url}\n\n")
    });
    let text = format!(
        "Hello,\n\n\
         you are invited to {place}{role}.\n\n\
         Accept within seven days:\n\n{page}\n\n\
         {by_openid}\
         The code of the invitation is\n\n{token}\n\n\
         Programs send it to {accept}:\n\n\
         {{\"token\": \"{token}\", \"name\": \"your name\", \"password\": \"a new password\"}}\n\n\
         If you already have an account, sign in and send {{\"token\": \"{token}\"}} to {join}.\n"
    );
    ("You are invited to the Network Hub".to_owned(), text)
}
