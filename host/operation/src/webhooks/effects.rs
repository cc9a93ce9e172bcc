//! Calls of webhooks by modules.

use hub_sandbox::contract::effects::CallWebhook;

use crate::app::App;
use crate::events::{self, EventKind};
use crate::http::error::ApiError;
use crate::modules::{ModuleActor, ModuleEvent};
use crate::values::NetworkId;
use crate::webhooks::fan_out::{enqueue, new_message_id};
use crate::webhooks::model::NewDelivery;
use crate::webhooks::subject::subject;

/// Queues one delivery of the type `MODULE_EVENT` to a webhook, whatever types it names.
pub async fn call(app: &App, network: NetworkId, actor: &ModuleActor, effect: &CallWebhook) -> Result<(), ApiError> {
    let event = ModuleEvent::new(actor, &effect.name, None, &effect.payload)?;
    let (kind, now) = (EventKind::ModuleEvent, app.clock.now());
    let mut data = events::open_data(kind, now, &event)?;
    data.push('}');
    let deliveries = [NewDelivery {
        subject: subject(kind.name(), &data),
        message_id: new_message_id(app),
        event: kind.name().to_owned(),
        data,
        event_at: now,
    }];
    let webhook = &effect.webhook_id;
    let queued = app.db.transaction(async |mut tx| enqueue(app, &mut tx, network, webhook, &deliveries).await).await?;
    if queued.is_none() {
        let message = format!("This network has no enabled webhook `{webhook}`.");
        return Err(ApiError::not_found("unknown_webhook", message));
    }
    Ok(())
}
