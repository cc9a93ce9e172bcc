//! Things that a person or a key leaves behind, and that go on without them.

use futures_util::future::BoxFuture;
use hub_db::{Error, Tx};
use serde::Serialize;
use utoipa::ToSchema;

use crate::auth::{Origin, Scopes};
use crate::values::NetworkId;

/// Kind of a thing that was left behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schema(as = LeftType)]
pub enum LeftKind {
    Key,
    Webhook,
    Import,
    Invitation,
    Member,
    Module,
    Role,
}

impl LeftKind {
    /// Name on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Key => "key",
            Self::Webhook => "webhook",
            Self::Import => "import",
            Self::Invitation => "invitation",
            Self::Member => "member",
            Self::Module => "module",
            Self::Role => "role",
        }
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
    /// Network of a key that an operator made for another network.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub network_id: Option<NetworkId>,
}

impl Left {
    /// A thing in the network of the search.
    pub fn new(kind: LeftKind, id: String, name: Option<String>, ended: bool) -> Self {
        Self { kind, id, name, ended, network_id: None }
    }
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

/// The creator of a key that is forgotten.
#[derive(Clone, Copy, Debug)]
pub struct Heir<'a> {
    pub network: NetworkId,
    /// The key that is forgotten.
    pub of: &'a str,
    /// Its creator; none if unknown.
    pub to: Option<&'a str>,
}

/// A component whose things outlive the request that created them.
pub trait Creations: Send + Sync {
    /// Things of these creators beyond the kept scopes, ended if requested.
    fn find<'a>(&'a self, tx: &'a mut Tx, search: &'a Search<'a>) -> BoxFuture<'a, Result<Vec<Left>, Error>>;

    /// Has what a key created count as its own creator's, before the key's row is deleted: else nobody's removal would find
    /// it.
    fn pass_on<'a>(&'a self, tx: &'a mut Tx, heir: Heir<'a>) -> BoxFuture<'a, Result<(), Error>>;
}
