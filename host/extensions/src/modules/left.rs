//! Modules by their uploaders. They stay when an uploader is gone: chains of the network run them.

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use hub_db::{Error, Tx};

use crate::component::{Creations, Heir, Left, LeftKind, Search};
use crate::modules::store::versions as store;

/// Modules by their uploaders.
pub(super) struct UploadedModules;

impl Creations for UploadedModules {
    fn find<'a>(&'a self, tx: &'a mut Tx, search: &'a Search<'a>) -> BoxFuture<'a, Result<Vec<Left>, Error>> {
        async move {
            let mut found = vec![];
            if search.kept.is_some() {
                return Ok(found);
            }
            for creator in search.creators {
                for (name, version) in store::of_creator(tx, search.network, creator).await? {
                    let id = format!("{name}/{version}");
                    found.push(Left::new(LeftKind::Module, id, Some(name), false));
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
