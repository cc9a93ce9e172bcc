//! What a person or a key leaves behind: keys, and other components' things that act without them.

use futures_util::future::BoxFuture;
use hub_db::{Error, Tx};
use serde::Serialize;
use utoipa::ToSchema;

use crate::audit::{self, Action, Change};
use crate::auth::{Origin, Scopes};
use crate::networks::service::shown_row;
use crate::networks::store;
use crate::values::NetworkId;

/// Kind of a thing that was left behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schema(as = LeftType)]
pub enum LeftKind {
    Key,
    Webhook,
    Invitation,
    Member,
    Module,
}

impl LeftKind {
    /// Name on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Key => "key",
            Self::Webhook => "webhook",
            Self::Invitation => "invitation",
            Self::Member => "member",
            Self::Module => "module",
        }
    }

    /// True if revoking ends it: modules and members stay.
    fn ends(self) -> bool {
        !matches!(self, Self::Member | Self::Module)
    }
}

/// A thing that was left behind.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = LeftThing)]
pub struct Left {
    #[serde(rename = "type")]
    #[schema(value_type = LeftKind)]
    pub kind: LeftKind,
    #[schema(example = "4fTq0ZkX91ab")]
    pub id: String,
    #[schema(example = "monitoring")]
    pub name: Option<String>,
    /// True if it was ended.
    pub ended: bool,
}

/// Search for things that were left behind.
pub struct Search<'a> {
    pub network: NetworkId,
    /// The key or person, and the keys that they created.
    pub creators: &'a [String],
    /// Scopes that their creator keeps; none if the creator is gone.
    pub kept: Option<Scopes>,
    /// Ends them in the name of this origin.
    pub end: Option<&'a Origin>,
    /// Origin of what ends in any case.
    pub origin: &'a Origin,
}

/// A component whose things outlive the request that created them.
pub trait Creations: Send + Sync {
    /// Things of these creators beyond the kept scopes, ended if requested.
    fn find<'a>(&'a self, tx: &'a mut Tx, search: &'a Search<'a>) -> BoxFuture<'a, Result<Vec<Left>, Error>>;
}

/// All components with such things.
pub struct AllCreations(pub &'static [&'static dyn Creations]);

/// Things that a key or person left: theirs, and those of keys that they created. `revoke` ends them, except for members
/// and modules; invitations end in any case.
pub async fn find(
    all: &AllCreations,
    tx: &mut Tx,
    origin: &Origin,
    network: NetworkId,
    (creator, kept): (&str, Option<Scopes>),
    revoke: bool,
) -> Result<Vec<Left>, Error> {
    let (mut creators, mut left) = (vec![creator.to_owned()], vec![]);
    let mut next = 0;
    while let Some(creator) = creators.get(next).cloned() {
        next += 1;
        for row in store::keys_of(tx, network, &creator).await? {
            let is_kept = kept.is_some_and(|kept| kept.cover(Scopes::from_text(&row.scopes)));
            if is_kept || creators.contains(&row.key_id.0) {
                continue;
            }
            if revoke {
                store::revoke_key(tx, network, &row.key_id, origin.clock.now()).await?;
                let change = Change::new(Action::KeyRevoked, &row.key_id.0).before(shown_row(&row));
                audit::record(tx, network, origin, change).await?;
            }
            creators.push(row.key_id.0.clone());
            left.push(Left { kind: LeftKind::Key, id: row.key_id.0, name: Some(row.name), ended: revoke });
        }
    }
    let search = Search { network, creators: &creators, kept, end: revoke.then_some(origin), origin };
    for creations in all.0 {
        left.extend(creations.find(tx, &search).await?);
    }
    for it in &mut left {
        it.ended &= it.kind.ends();
    }
    Ok(left)
}
