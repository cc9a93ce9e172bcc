//! Queues events from the outbox for the webhooks that subscribe to them.

use std::collections::BTreeMap;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use hub_db::{Error, Tx};

use crate::app::App;
use crate::events::{EventConsumer, MODULE_SUBSCRIBER, SubscribedEvent};
use crate::limits::{self, Limit};
use crate::values::NetworkId;
use crate::webhooks::Webhooks;
use crate::webhooks::model::NewDelivery;
use crate::webhooks::store::queue::{self, Backlog};
use crate::webhooks::subject::subject;

const MESSAGE_ID_LENGTH: usize = 24;

/// Consumer of the outbox that queues events for webhooks.
pub(super) struct FanOut;

impl EventConsumer for FanOut {
    fn serves(&self, subscriber: &str) -> bool {
        !subscriber.starts_with(MODULE_SUBSCRIBER)
    }

    fn take<'a>(
        &'a self,
        app: &'a App,
        tx: &'a mut Tx,
        network: NetworkId,
        events: &'a [SubscribedEvent],
    ) -> BoxFuture<'a, Result<(), Error>> {
        async move {
            // One order for all, so that two transactions never deadlock.
            let mut by_webhook: BTreeMap<&str, Vec<NewDelivery>> = BTreeMap::new();
            for SubscribedEvent { subscriber, name, data, created_at, .. } in events {
                by_webhook.entry(subscriber).or_default().push(NewDelivery {
                    subject: subject(name, data),
                    message_id: new_message_id(app),
                    event: name.clone(),
                    data: data.clone(),
                    event_at: *created_at,
                });
            }
            for (webhook, deliveries) in by_webhook {
                enqueue(app, tx, network, webhook, &deliveries).await?;
            }
            Ok(())
        }
        .boxed()
    }
}

/// Id by which a receiver recognises a repeated message.
pub(super) fn new_message_id(app: &App) -> String {
    format!("msg_{}", app.ids.token(MESSAGE_ID_LENGTH))
}

/// Queues deliveries. Returns the number of the last one; none if the webhook is not enabled. The oldest are dropped if
/// too many wait.
pub(super) async fn enqueue(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    webhook: &str,
    deliveries: &[NewDelivery],
) -> Result<Option<i64>, Error> {
    let rows = i64::try_from(deliveries.len()).unwrap_or(i64::MAX);
    let bytes = deliveries.iter().map(|delivery| delivery.data.len() as i64).sum();
    let Some(backlog) = queue::reserve(tx, network, webhook, (rows, bytes)).await? else { return Ok(None) };
    let first = backlog.last_seq - rows + 1;
    let now = app.clock.now();
    queue::insert(tx, network, webhook, (first, deliveries), now).await?;
    if backlog.is_held() {
        queue::end_hold(tx, network, webhook, (first, now)).await?;
    }
    drop_excess(app, tx, network, webhook, backlog).await?;
    app.state::<Webhooks>().wake_on_end(tx, network, webhook);
    Ok(Some(backlog.last_seq))
}

async fn drop_excess(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    webhook: &str,
    mut backlog: Backlog,
) -> Result<(), Error> {
    let (most, most_bytes) =
        (limits::bound(app, Limit::WebhookBacklog), limits::bound(app, Limit::WebhookBacklogBytes));
    while backlog.waiting > most || (backlog.waiting_bytes > most_bytes && backlog.waiting > 1) {
        // A fiftieth more at once, so that not every new row costs a deletion.
        let more = (backlog.waiting / 50).max(1);
        let excess = (backlog.waiting - most).max(0) + more;
        tracing::debug!(%network, webhook, excess, "too many deliveries wait for a webhook; the oldest are dropped");
        match queue::drop_oldest(tx, network, webhook, excess.min(backlog.waiting - 1)).await? {
            Some(left) => backlog = left,
            None => break,
        }
    }
    Ok(())
}
