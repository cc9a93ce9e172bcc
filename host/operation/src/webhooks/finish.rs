//! Stores the outcome of an attempt at a delivery, and decides what comes after it.

use std::time::Duration;

use hub_db::{Error, Tx};

use crate::app::App;
use crate::clock::{Millis, millis};
use crate::limits::{self, Limit};
use crate::webhooks::model::{Delivery, DeliveryState, DisabledReason, Webhook};
use crate::webhooks::outcome::{Attempt, Verdict};
use crate::webhooks::store::queue;
use crate::webhooks::{notice, schedule};

/// Duration of a webhook's claim for each request: longer than one takes. After a kill the webhook pauses this long.
pub(super) const CLAIM: Duration = Duration::from_secs(20);
/// Error of deliveries that waited behind one that was given up.
const NOT_TRIED: &str = "not tried: the previous delivery failed until it expired";

/// Step after an attempt; the webhook is claimed until then.
pub(super) enum Next {
    /// Send the next delivery.
    Another(Millis),
    /// Read the webhook again: it was changed.
    Changed(Millis),
    /// Stop: it pauses, or nothing is left.
    Later,
}

/// Stores the outcome of an attempt.
pub(super) async fn finish(
    app: &App,
    webhook: &Webhook,
    delivery: &Delivery,
    attempt: &Attempt,
) -> Result<Next, Error> {
    let now = app.clock.now();
    let (claimed, pause) = (now.saturating_add(millis(CLAIM)), pause(app, webhook, attempt));
    let next_attempt_at = pause.map_or(claimed, |pause| now.saturating_add(pause));
    let (network, id) = (webhook.network, webhook.id.as_str());
    let (next, disabled) = app
        .db
        .transaction(async |mut tx| {
            let change = (attempt.verdict, next_attempt_at);
            let after = queue::note_in_webhook(&mut tx, network, id, change, now).await?;
            let Some((updated_at, failing_since)) = after else { return Ok((Next::Later, None)) };
            note_in_delivery(&mut tx, webhook, delivery, attempt, now).await?;
            let disabled = disabled_by(attempt, failing_since, now);
            match disabled {
                Some(reason) => notice::disable(app, &mut tx, webhook, reason).await?,
                None => give_up_expired(&mut tx, webhook, attempt, now).await?,
            }
            queue::forget(&mut tx, network, id, limits::bound(app, Limit::WebhookDeliveries)).await?;
            let next = match (pause, disabled) {
                (Some(_), _) | (_, Some(_)) => Next::Later,
                _ if updated_at != webhook.updated_at => Next::Changed(claimed),
                _ => Next::Another(claimed),
            };
            Ok::<_, Error>((next, disabled))
        })
        .await?;
    if let Some(reason) = disabled {
        notice::mail(app, webhook, reason).await;
    }
    Ok(next)
}

/// Pause of the webhook after an attempt, if it makes one.
fn pause(app: &App, webhook: &Webhook, attempt: &Attempt) -> Option<Millis> {
    match attempt.verdict {
        Verdict::Retry(asked) => Some(schedule::pause(webhook.failures + 1, asked, app.ids.seed())),
        _ => attempt.quiet.map(|quiet| millis(quiet.min(schedule::LONGEST_PAUSE))),
    }
}

/// Stores an attempt in the delivery, and counts a delivery that it ends.
async fn note_in_delivery(
    tx: &mut Tx,
    webhook: &Webhook,
    delivery: &Delivery,
    attempt: &Attempt,
    now: Millis,
) -> Result<(), Error> {
    let (network, id) = (webhook.network, webhook.id.as_str());
    let state = match attempt.verdict {
        Verdict::Delivered => DeliveryState::Delivered,
        Verdict::Retry(_) => DeliveryState::Waiting,
        Verdict::Refused | Verdict::Gone => DeliveryState::Failed,
    };
    let noted = queue::note_attempt(tx, network, (id, delivery.seq), (state, attempt), now).await?;
    if noted && state != DeliveryState::Waiting {
        queue::count_finished(tx, network, id, (1, delivery.data.len() as i64)).await?;
    }
    Ok(())
}

/// Reason for which an attempt disables the webhook, if it does.
fn disabled_by(attempt: &Attempt, failing_since: Option<Millis>, now: Millis) -> Option<DisabledReason> {
    let fails_for_long = |since| now - since >= millis(schedule::DISABLED_AFTER);
    match attempt.verdict {
        Verdict::Gone => Some(DisabledReason::Gone),
        _ => failing_since.is_some_and(fails_for_long).then_some(DisabledReason::Failing),
    }
}

/// Gives up deliveries that have waited too long, after an attempt that is to be repeated.
async fn give_up_expired(tx: &mut Tx, webhook: &Webhook, attempt: &Attempt, now: Millis) -> Result<(), Error> {
    if !matches!(attempt.verdict, Verdict::Retry(_)) {
        return Ok(());
    }
    let expired = now - millis(schedule::TTL);
    queue::give_up(tx, webhook.network, &webhook.id, (expired, NOT_TRIED), now).await
}
