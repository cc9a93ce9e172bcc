//! Webhooks whose creator lost the right to them.

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use hub_db::{Error, Tx};
use serde_json::json;

use crate::audit::{self, Action, Change};
use crate::auth::Scope;
use crate::component::{Creations, Left, LeftKind, Search};
use crate::webhooks::model::DisabledReason;
use crate::webhooks::store::webhooks as store;

/// Webhooks by their creators.
pub(super) struct CreatedWebhooks;

impl Creations for CreatedWebhooks {
    fn find<'a>(&'a self, tx: &'a mut Tx, search: &'a Search<'a>) -> BoxFuture<'a, Result<Vec<Left>, Error>> {
        async move {
            let mut found = vec![];
            if search.kept.is_some_and(|kept| kept.allow(Scope::NetworkManage) && kept.allow(Scope::EventsRead)) {
                return Ok(found);
            }
            for creator in search.creators {
                for (id, name) in store::of_creator(tx, search.network, creator).await? {
                    if let Some(origin) = search.end {
                        let reason = DisabledReason::CreatorLeft;
                        store::disable(tx, search.network, &id, reason, origin.clock.now()).await?;
                        let change = Change::new(Action::WebhookDisabled, &id).after(json!({"disabledReason": reason}));
                        audit::record(tx, search.network, origin, change).await?;
                    }
                    found.push(Left { kind: LeftKind::Webhook, id, name, ended: search.end.is_some() });
                }
            }
            Ok(found)
        }
        .boxed()
    }
}
