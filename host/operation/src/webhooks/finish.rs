//! Stores the outcomes of attempts at deliveries, and decides what comes after them.

use std::time::Duration;

use hub_db::{Error, Tx};

use crate::app::App;
use crate::clock::{Millis, millis};
use crate::limits::{self, Limit};
use crate::webhooks::model::{Delivery, DeliveryState, DisabledReason, Webhook, WebhookKind};
use crate::webhooks::outcome::{Attempt, Verdict};
use crate::webhooks::store::queue::{self, AfterAttempts, Settlement, Tally};
use crate::webhooks::{notice, schedule};

/// Duration of a webhook's claim after each outcome: longer than a request takes. After a kill the webhook pauses this
/// long.
pub(super) const CLAIM: Duration = Duration::from_secs(20);
/// Consecutive failures after which all deliveries of a webhook pause, and not only those of the failed subjects.
const MAX_FAILURES: i64 = 8;
/// Subjects that pause at once; with more the whole webhook does.
const MAX_HELD: usize = 256;
/// Error of deliveries that waited behind one that was given up.
const NOT_TRIED: &str = "not tried: the previous delivery failed until it expired";

/// A delivery and an attempt at it.
pub(super) struct Attempted {
    pub(super) delivery: Delivery,
    pub(super) attempt: Attempt,
}

/// State of a turn after attempts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    /// True if other requests are under way.
    pub(super) is_sending: bool,
    /// End of a pause that an earlier attempt made.
    pub(super) pause: Option<Millis>,
    /// Number of held subjects.
    pub(super) held: usize,
    /// Time at which the turn began, and the number up to which it read deliveries, if nothing is left to be sent.
    pub(super) rest_at: Option<(Millis, i64)>,
}

/// Step after attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Send other deliveries.
    Another,
    /// Wait only for requests under way: the webhook was changed, or it pauses.
    NoOther,
    /// Stop: the claim has ended.
    Over,
}

/// State of a webhook after attempts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    pub(super) next: Next,
    /// End of the claim.
    pub(super) claimed: Millis,
    pub(super) pause: Option<Millis>,
    /// Number of the newest delivery.
    pub(super) newest: i64,
}

/// Stores the outcomes of attempts.
pub(super) async fn finish(
    app: &App,
    webhook: &Webhook,
    attempted: &[Attempted],
    progress: Progress,
) -> Result<Outcome, Error> {
    let now = app.clock.now();
    let claimed = now.saturating_add(millis(CLAIM));
    let (network, id) = (webhook.network, webhook.id.as_str());
    let over = Outcome { next: Next::Over, claimed, pause: None, newest: 0 };
    let tally = Tally::of(attempted.iter().map(|it| &it.attempt));
    let (outcome, disabled) = app
        .db
        .transaction(async |mut tx| {
            let after = queue::note_in_webhook(&mut tx, network, id, tally, now).await?;
            let Some(after) = after else { return Ok((over, None)) };
            let (added, pauses) = pause(app, webhook, attempted, after, progress);
            let pause = progress.pause.max(added.map(|pause| now.saturating_add(pause)));
            let finished = note_in_deliveries(app, &mut tx, webhook, attempted, (pause.is_some(), now)).await?;
            let next_attempt_at = pause.filter(|_| !progress.is_sending).unwrap_or(claimed);
            queue::settle(&mut tx, network, id, Settlement { finished, pauses, next_attempt_at }).await?;
            let disabled = disabled_by(attempted, after.failing_since, now);
            match disabled {
                Some(reason) => notice::disable(app, &mut tx, webhook, reason).await?,
                None => give_up_expired(&mut tx, webhook, attempted, (pause, progress.is_sending), now).await?,
            }
            queue::forget(&mut tx, network, id, limits::bound(app, Limit::WebhookDeliveries)).await?;
            let is_resting = match progress.rest_at.filter(|_| pause.is_none() && disabled.is_none()) {
                Some((began_at, newest)) => {
                    queue::rest(&mut tx, network, id, (claimed, newest), (began_at, now)).await?
                }
                None => false,
            };
            let is_over = disabled.is_some() || is_resting || (pause.is_some() && !progress.is_sending);
            let next = match is_over {
                true => Next::Over,
                false if pause.is_some() || after.updated_at != webhook.updated_at => Next::NoOther,
                false => Next::Another,
            };
            Ok::<_, Error>((Outcome { next, claimed, pause, newest: after.last_seq }, disabled))
        })
        .await?;
    if let Some(reason) = disabled {
        notice::mail(app, webhook, reason).await;
    }
    Ok(outcome)
}

/// Pause of the whole webhook after attempts, and the number by which it lengthens later ones: what the receiver asks
/// for, or what its failures suggest. Where only single messages fail, only their subjects pause.
fn pause(
    app: &App,
    webhook: &Webhook,
    attempted: &[Attempted],
    after: AfterAttempts,
    progress: Progress,
) -> (Option<Millis>, i64) {
    let quiet = attempted.iter().filter_map(|it| it.attempt.quiet).max();
    let quiet = quiet.map(|quiet| millis(quiet.min(schedule::LONGEST_PAUSE)));
    let failed = attempted.iter().filter_map(|it| match it.attempt.verdict {
        Verdict::Retry(asked) => Some((it.delivery.attempts + 1, asked)),
        _ => None,
    });
    let Some((attempts, asked)) = failed.reduce(|one, other| (one.0.max(other.0), one.1.max(other.1))) else {
        return (quiet, 0);
    };
    let fails = after.failures >= MAX_FAILURES || progress.held >= MAX_HELD || webhook.kind == WebhookKind::Discord;
    // Requests that began before a pause do not lengthen it.
    let is_down = fails && progress.pause.is_none();
    if !is_down && asked.is_none() {
        return (quiet, 0);
    }
    let nth = if is_down { attempts.max(after.pauses + 1) } else { attempts };
    (Some(schedule::pause(nth, asked, app.ids.seed())).max(quiet), i64::from(is_down))
}

/// Stores attempts in their deliveries, with the pauses of their subjects unless the whole webhook pauses. Returns the
/// number of those that ended, and their bytes.
async fn note_in_deliveries(
    app: &App,
    tx: &mut Tx,
    webhook: &Webhook,
    attempted: &[Attempted],
    (is_paused, now): (bool, Millis),
) -> Result<(i64, i64), Error> {
    let mut ended = (0, 0);
    for Attempted { delivery, attempt } in attempted {
        let state = match attempt.verdict {
            Verdict::Delivered => DeliveryState::Delivered,
            Verdict::Retry(_) => DeliveryState::Waiting,
            Verdict::Refused | Verdict::Gone => DeliveryState::Failed,
        };
        let is_held = state == DeliveryState::Waiting && !is_paused;
        let pause = || schedule::pause(delivery.attempts + 1, None, app.ids.seed());
        let held_until = is_held.then(|| now.saturating_add(pause()));
        let (of, to) = ((webhook.id.as_str(), delivery.seq), (state, held_until, attempt));
        if queue::note_attempt(tx, webhook.network, of, to, now).await? && state != DeliveryState::Waiting {
            ended = (ended.0 + 1, ended.1 + delivery.data.len() as i64);
        }
    }
    Ok(ended)
}

/// Reason for which attempts disable the webhook, if they do.
fn disabled_by(attempted: &[Attempted], failing_since: Option<Millis>, now: Millis) -> Option<DisabledReason> {
    if attempted.iter().any(|it| it.attempt.verdict == Verdict::Gone) {
        return Some(DisabledReason::Gone);
    }
    let fails_for_long = |since| now - since >= millis(schedule::DISABLED_AFTER);
    failing_since.is_some_and(fails_for_long).then_some(DisabledReason::Failing)
}

/// Gives up deliveries that have waited too long, after attempts that are to be repeated: all if the webhook pauses,
/// else those of the failed subjects.
async fn give_up_expired(
    tx: &mut Tx,
    webhook: &Webhook,
    attempted: &[Attempted],
    (pause, is_sending): (Option<Millis>, bool),
    now: Millis,
) -> Result<(), Error> {
    let expired = (now - millis(schedule::TTL), NOT_TRIED);
    let failed = attempted.iter().filter(|it| matches!(it.attempt.verdict, Verdict::Retry(_)));
    let mut subjects: Vec<_> = failed.map(|it| Some(it.delivery.subject)).collect();
    // Requests under way are not given up.
    if !subjects.is_empty() && (webhook.kind == WebhookKind::Discord || (pause.is_some() && !is_sending)) {
        subjects = vec![None];
    }
    for subject in subjects {
        queue::give_up(tx, webhook.network, (&webhook.id, subject), expired, now).await?;
    }
    Ok(())
}
