//! Unfinished imports whose creator lost the right to them.

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use hub_db::{Error, Tx};

use crate::auth::Scope;
use crate::component::{Creations, Heir, Left, LeftKind, Search};
use crate::imports::model::ImportState;
use crate::imports::{run, store};

/// Unfinished imports by their creators.
pub(super) struct StartedImports;

impl Creations for StartedImports {
    fn find<'a>(&'a self, tx: &'a mut Tx, search: &'a Search<'a>) -> BoxFuture<'a, Result<Vec<Left>, Error>> {
        async move {
            let mut found = vec![];
            for creator in search.creators {
                let Some(import) = store::unfinished_of(tx, search.network, creator).await? else { continue };
                let needed = [Scope::NetworkManage, import.kind.scope()];
                if search.kept.is_some_and(|kept| needed.iter().all(|scope| kept.allow(*scope))) {
                    continue;
                }
                if let Some(origin) = search.end {
                    run::end_in(tx, &import, (ImportState::Cancelled, None), origin, origin.clock.now()).await?;
                }
                found.push(Left::new(LeftKind::Import, import.id, None, search.end.is_some()));
            }
            Ok(found)
        }
        .boxed()
    }

    fn pass_on<'a>(&'a self, tx: &'a mut Tx, heir: Heir<'a>) -> BoxFuture<'a, Result<(), Error>> {
        async move {
            let Some(to) = heir.to else { return Ok(()) };
            store::pass_on(tx, heir.network, heir.of, to).await
        }
        .boxed()
    }
}
