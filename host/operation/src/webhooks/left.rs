//! Webhooks whose creator lost the right to them.

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use hub_db::{Error, Tx};
use serde_json::json;

use crate::audit::{self, Action, Change};
use crate::auth::{Scope, Scopes};
use crate::component::{Creations, Heir, Left, LeftKind, Search};
use crate::webhooks::model::DisabledReason;
use crate::webhooks::store::webhooks::{self as store, CreatedWebhook};

/// Webhooks by their creators, and by those who chose where they lead.
pub(super) struct CreatedWebhooks;

impl Creations for CreatedWebhooks {
    fn find<'a>(&'a self, tx: &'a mut Tx, search: &'a Search<'a>) -> BoxFuture<'a, Result<Vec<Left>, Error>> {
        async move {
            let mut found = vec![];
            for creator in search.creators {
                for CreatedWebhook { id, name, events } in store::of_creator(tx, search.network, creator).await? {
                    let may = |kept: Scopes| {
                        kept.allow(Scope::NetworkManage)
                            && events.iter().flat_map(|event| event.0.scopes()).all(|scope| kept.allow(*scope))
                    };
                    if search.kept.is_some_and(may) {
                        continue;
                    }
                    if let Some(origin) = search.end {
                        let reason = DisabledReason::CreatorLeft;
                        store::disable(tx, search.network, &id, reason, origin.clock.now()).await?;
                        let change = Change::new(Action::WebhookDisabled, &id).after(json!({"disabledReason": reason}));
                        audit::record(tx, search.network, origin, change).await?;
                    }
                    found.push(Left::new(LeftKind::Webhook, id, name, search.end.is_some()));
                }
            }
            Ok(found)
        }
        .boxed()
    }

    fn pass_on<'a>(&'a self, tx: &'a mut Tx, heir: Heir<'a>) -> BoxFuture<'a, Result<(), Error>> {
        store::pass_on(tx, heir.network, heir.of, heir.to).boxed()
    }
}
