//! Disables webhooks that only fail, and tells their owners.

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

/// The error of deliveries that waited for a webhook that was disabled.
const DISABLED: &str = "the webhook was disabled";

/// Fails what waits for a webhook, of which only the newest is kept, and ends its subscriptions.
pub(super) async fn end_deliveries(app: &App, tx: &mut Tx, webhook: &Webhook) -> Result<(), Error> {
    let (network, id) = (webhook.network, webhook.id.as_str());
    events::subscribe_in(app, tx, network, id, &[]).await?;
    queue::give_up(tx, network, id, (Millis::MAX, DISABLED), app.clock.now()).await?;
    queue::forget(tx, network, id, limits::bound(app, Limit::WebhookDeliveries)).await
}

/// Disables a webhook, and says so in the network's audit log.
pub(super) async fn disable(app: &App, tx: &mut Tx, webhook: &Webhook, reason: DisabledReason) -> Result<(), Error> {
    if !store::disable(tx, webhook.network, &webhook.id, reason, app.clock.now()).await? {
        return Ok(());
    }
    end_deliveries(app, tx, webhook).await?;
    let change = Change::new(Action::WebhookDisabled, &webhook.id).after(json!({"disabledReason": reason}));
    audit::record(tx, webhook.network, &Origin::system(app, "webhooks"), change).await
}

/// Mails the network's owners, if it has any. The audit log says it, too.
pub(super) async fn mail(app: &App, webhook: &Webhook, reason: DisabledReason) {
    let why = match reason {
        DisabledReason::Gone => "its receiver said that it is gone",
        DisabledReason::Failing | DisabledReason::Requested => "no delivery has succeeded for five days",
    };
    let url = shown_url(webhook);
    let name = webhook.name.as_deref().unwrap_or(&webhook.id);
    let text = format!(
        "The webhook \"{name}\" to {url} is disabled: {why}.\n\nEvents are not sent there any more. Once the receiver works \
         again, enable the webhook (`hub webhook set {} --enable`), and resend what it missed from its deliveries.\n",
        webhook.id
    );
    let addresses = match people::owner_addresses(app, webhook.network).await {
        Ok(addresses) => addresses,
        Err(error) => return tracing::warn!(%error, "could not look for whom to tell of a disabled webhook"),
    };
    for address in addresses {
        if !app.state::<Limits>().addresses.may_notify(webhook.network, &address, app.clock.now()) {
            continue;
        }
        if let Err(error) = app.mailer.send(&app.ids, &address, "A webhook is disabled", text.clone()).await {
            tracing::warn!(%error, network = %webhook.network, "could not mail that a webhook is disabled");
        }
    }
}

/// The URL as it may be shown.
pub(super) fn shown_url(webhook: &Webhook) -> String {
    match webhook.kind {
        WebhookKind::Standard => webhook.url.expose().to_owned(),
        WebhookKind::Discord => url::without_token(webhook.url.expose()),
    }
}
