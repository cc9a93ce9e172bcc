//! Disables webhooks that only fail, and notifies their owners.

use hub_db::{Error, Tx};
use serde_json::json;

use crate::app::App;
use crate::audit::{self, Action, Change};
use crate::auth::Origin;
use crate::clock::Millis;
use crate::events;
use crate::limits::{self, Limit, Limits};
use crate::people::service as people;
use crate::webhooks::model::{DisabledReason, Webhook, WebhookKind};
use crate::webhooks::store::{queue, webhooks as store};
use crate::webhooks::url;

/// Error of deliveries that waited for a disabled webhook.
const DISABLED: &str = "the webhook was disabled";

/// Fails a webhook's waiting deliveries, keeping only the newest, and ends its subscriptions.
pub(super) async fn end_deliveries(app: &App, tx: &mut Tx, webhook: &Webhook) -> Result<(), Error> {
    let (network, id) = (webhook.network, webhook.id.as_str());
    events::subscribe_in(app, tx, network, id, &[]).await?;
    queue::give_up(tx, network, (id, None), (Millis::MAX, DISABLED), app.clock.now()).await?;
    queue::forget(tx, network, id, limits::bound(app, Limit::WebhookDeliveries)).await
}

/// Disables a webhook, with an entry in the network's audit log.
pub(super) async fn disable(app: &App, tx: &mut Tx, webhook: &Webhook, reason: DisabledReason) -> Result<(), Error> {
    if !store::disable(tx, webhook.network, &webhook.id, reason, app.clock.now()).await? {
        return Ok(());
    }
    end_deliveries(app, tx, webhook).await?;
    let change = Change::new(Action::WebhookDisabled, &webhook.id).after(json!({"disabledReason": reason}));
    audit::record(tx, webhook.network, &Origin::system(app, "webhooks"), change).await
}

/// Mails the network's owners, if it has any. The audit log has the entry, too.
pub(super) async fn mail(app: &App, webhook: &Webhook, reason: DisabledReason) {
    let why = match reason {
        DisabledReason::Gone => "its receiver reported that it is gone",
        DisabledReason::Failing | DisabledReason::Requested | DisabledReason::CreatorLeft => {
            "no delivery has succeeded for five days"
        }
    };
    let url = shown_url(webhook);
    let name = webhook.name.as_deref().unwrap_or(&webhook.id);
    let text = format!(
        "The webhook \"{name}\" to {url} is disabled: {why}.\n\nEvents are no longer sent there. Once the receiver works, \
         enable the webhook (`hub webhook set {} --enable`) and resend the missed events from its deliveries.\n",
        webhook.id
    );
    let addresses = match people::owner_addresses(app, webhook.network).await {
        Ok(addresses) => addresses,
        Err(error) => return tracing::warn!(%error, "could not read the owners to notify of a disabled webhook"),
    };
    for address in addresses {
        if !app.state::<Limits>().addresses.may_notify(webhook.network, &address, app.clock.now()) {
            continue;
        }
        if let Err(error) = app.mailer.send(&app.ids, &address, "A webhook is disabled", text.clone()).await {
            tracing::warn!(%error, network = %webhook.network, "could not send the mail about a disabled webhook");
        }
    }
}

/// The URL in a form that may be shown.
pub(super) fn shown_url(webhook: &Webhook) -> String {
    match webhook.kind {
        WebhookKind::Standard => webhook.url.expose().to_owned(),
        WebhookKind::Discord => url::without_token(webhook.url.expose()),
    }
}
