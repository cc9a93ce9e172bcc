//! Keys and scopes.

use serde::{Deserialize, Serialize};
use strum::VariantArray as _;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::auth::bindings::Bindings;
use crate::clock::Millis;
use crate::values::NetworkId;

/// The public part of a key.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, sqlx::Type, ToSchema)]
#[serde(transparent)]
#[sqlx(transparent)]
pub struct KeyId(pub String);

macro_rules! scopes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal),+ $(,)?) => {
        /// What a key may do.
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize,
            strum::Display, strum::EnumString, strum::IntoStaticStr, strum::VariantArray,
        )]
        #[strum(parse_err_ty = String, parse_err_fn = unknown_scope)]
        pub enum Scope {
            $($(#[$doc])* #[serde(rename = $name)] #[strum(serialize = $name)] $variant),+
        }
    };
}

scopes! {
    /// All of `/api/plugin`; includes the scopes of its areas, which follow `agent`.
    Plugin = "plugin",
    /// What node agents and provisioned machines call.
    Agent = "agent",
    /// Open the event stream.
    EventsRead = "events:read",
    /// Players' data, statistics, languages and addresses, reading included.
    PlayersWrite = "players:write",
    /// Currencies and owners' statistics, reading included.
    EconomyWrite = "economy:write",
    /// Groups and players' permissions, reading included.
    PermissionsWrite = "permissions:write",
    /// Punishments, reading included.
    PunishmentsWrite = "punishments:write",
    /// Find servers and worlds for players, transfer players.
    Matchmaking = "matchmaking",
    /// List servers, read logs.
    ServersRead = "servers:read",
    /// Command servers.
    ServersControl = "servers:control",
    /// Read modules.
    ModulesRead = "modules:read",
    /// Upload, activate, try and remove modules; includes reading.
    ModulesWrite = "modules:write",
    /// The owner's settings and ledgers.
    NetworkManage = "network:manage",
    /// The operator, across networks.
    Operator = "operator",
}

impl Scope {
    /// As the wire writes it.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// The larger scope that includes this one.
    fn included_in(self) -> Option<Self> {
        match self {
            Self::EventsRead
            | Self::PlayersWrite
            | Self::EconomyWrite
            | Self::PermissionsWrite
            | Self::PunishmentsWrite
            | Self::Matchmaking => Some(Self::Plugin),
            Self::ModulesRead => Some(Self::ModulesWrite),
            _ => None,
        }
    }
}

fn unknown_scope(_: &str) -> String {
    let known: Vec<_> = Scope::VARIANTS.iter().map(|scope| scope.as_str()).collect();
    format!("unknown scope; there are {}", known.join(", "))
}

// By hand: the derive does not see a name that a macro passes on.
impl PartialSchema for Scope {
    fn schema() -> RefOr<Schema> {
        let names = Self::VARIANTS.iter().map(|scope| scope.as_str());
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some("What a key may do."))
            .enum_values(Some(names))
            .examples([Self::Plugin.as_str()])
            .into()
    }
}
impl ToSchema for Scope {}

/// A set of scopes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scopes(u32);

impl Scopes {
    /// What the first key of a network may do: everything but the operator's work.
    pub fn owner() -> Self {
        Scope::VARIANTS.iter().copied().filter(|scope| *scope != Scope::Operator).collect()
    }

    /// Whether these include `scope`, itself or by a larger one.
    pub fn allow(self, scope: Scope) -> bool {
        self.holds(scope) || scope.included_in().is_some_and(|larger| self.holds(larger))
    }

    /// Whether these include all of `others`.
    pub fn cover(self, others: Self) -> bool {
        others.iter().all(|scope| self.allow(scope))
    }

    /// The scopes in their fixed order.
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::VARIANTS.iter().copied().filter(move |scope| self.holds(*scope))
    }

    /// As the database writes them.
    pub(crate) fn to_text(self) -> String {
        self.iter().map(Scope::as_str).collect::<Vec<_>>().join(" ")
    }

    /// As the database wrote them. A scope of a newer hub is ignored.
    pub(crate) fn from_text(text: &str) -> Self {
        text.split(' ').filter_map(|name| name.parse().ok()).collect()
    }

    fn holds(self, scope: Scope) -> bool {
        self.0 & (1 << scope as u16) != 0
    }
}

impl FromIterator<Scope> for Scopes {
    fn from_iter<I: IntoIterator<Item = Scope>>(scopes: I) -> Self {
        Self(scopes.into_iter().fold(0, |bits, scope| bits | (1 << scope as u16)))
    }
}

/// What a caller sent: which key, and which of its secrets, so that it can be checked again later.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Credential {
    pub(super) id: KeyId,
    pub(super) sha256: Vec<u8>,
}

/// A valid key.
#[derive(Clone, Debug)]
pub(crate) struct ActiveKey {
    /// The network it belongs to.
    pub(crate) network: NetworkId,
    /// Its id.
    pub(crate) id: KeyId,
    /// What its owner calls it.
    pub(crate) name: String,
    /// What the caller sent of it.
    pub(crate) credential: Credential,
    /// What it may do.
    pub(crate) scopes: Scopes,
    /// Where it may be used.
    pub(crate) bindings: Bindings,
    /// When it ends by itself.
    pub(crate) expires_at: Option<Millis>,
    /// Whether it is a person's session.
    pub(crate) is_person: bool,
}

/// A key's row, joined with what matters of its network.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(crate) struct KeyRow {
    pub(crate) network_id: NetworkId,
    pub(crate) key_id: KeyId,
    pub(crate) name: String,
    pub(crate) scopes: String,
    pub(crate) sha256: Vec<u8>,
    pub(crate) previous_sha256: Option<Vec<u8>>,
    pub(crate) previous_until: Option<Millis>,
    pub(crate) created_at: Millis,
    pub(crate) expires_at: Option<Millis>,
    pub(crate) revoked_at: Option<Millis>,
    pub(crate) last_used_at: Option<Millis>,
    pub(crate) servers: Option<String>,
    pub(crate) addresses: Option<String>,
    pub(crate) suspended: bool,
}

impl KeyRow {
    /// Where the key may be used.
    pub(crate) fn bindings(&self) -> Bindings {
        Bindings::from_text(self.servers.as_deref(), self.addresses.as_deref())
    }
}
