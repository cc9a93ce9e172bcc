//! Keys and scopes.

use serde::{Deserialize, Serialize};
use strum::VariantArray as _;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::auth::bindings::Bindings;
use crate::clock::Millis;
use crate::values::NetworkId;

/// Public part of a key.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, sqlx::Type, ToSchema)]
#[serde(transparent)]
#[sqlx(transparent)]
pub struct KeyId(pub String);

macro_rules! scopes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal),+ $(,)?) => {
        /// Permission of a key.
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
    /// Routes of node agents and provisioned machines.
    Agent = "agent",
    /// Open the event stream.
    EventsRead = "events:read",
    /// Read and change players' data, statistics, languages and addresses.
    PlayersWrite = "players:write",
    /// Read and change currencies and owners' statistics.
    EconomyWrite = "economy:write",
    /// Read and change groups and players' permissions.
    PermissionsWrite = "permissions:write",
    /// Read and change punishments.
    PunishmentsWrite = "punishments:write",
    /// Create, claim and settle deliveries.
    DeliveriesWrite = "deliveries:write",
    /// Find servers and worlds for players, transfer players.
    Matchmaking = "matchmaking",
    /// List servers, read logs.
    ServersRead = "servers:read",
    /// Send commands to servers.
    ServersControl = "servers:control",
    /// Read modules.
    ModulesRead = "modules:read",
    /// Upload, activate, test and remove modules; includes reading.
    ModulesWrite = "modules:write",
    /// Read players: profiles, data, addresses, statistics, punishments, play time and notes.
    PlayersRead = "players:read",
    /// Edit, list and revoke punishments, and decide appeals.
    PunishmentsManage = "punishments:manage",
    /// Read and close reports.
    ReportsManage = "reports:manage",
    /// Read the chat history.
    ChatRead = "chat:read",
    /// Read, retry, cancel and confirm deliveries.
    DeliveriesManage = "deliveries:manage",
    /// Read the servers' logs.
    ConsoleRead = "console:read",
    /// Read the audit log.
    AuditRead = "audit:read",
    /// Manage the network's settings and ledgers; includes the scopes above from `punishments:manage`, and `lines:manage`.
    NetworkManage = "network:manage",
    /// Read and change waiting lines and their tickets.
    LinesManage = "lines:manage",
    /// Operate the hub, across networks.
    Operator = "operator",
}

impl Scope {
    /// Name in the API.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Larger scope that includes this one.
    fn included_in(self) -> Option<Self> {
        match self {
            Self::EventsRead
            | Self::PlayersWrite
            | Self::EconomyWrite
            | Self::PermissionsWrite
            | Self::PunishmentsWrite
            | Self::DeliveriesWrite
            | Self::Matchmaking => Some(Self::Plugin),
            Self::ModulesRead => Some(Self::ModulesWrite),
            // Not `players:read`, which also opens routes of connectors.
            Self::PunishmentsManage
            | Self::ReportsManage
            | Self::ChatRead
            | Self::DeliveriesManage
            | Self::ConsoleRead
            | Self::AuditRead
            | Self::LinesManage => Some(Self::NetworkManage),
            _ => None,
        }
    }
}

fn unknown_scope(_: &str) -> String {
    let known: Vec<_> = Scope::VARIANTS.iter().map(|scope| scope.as_str()).collect();
    format!("unknown scope; use one of {}", known.join(", "))
}

// Written by hand: the derive macro does not see a name passed by another macro.
impl PartialSchema for Scope {
    fn schema() -> RefOr<Schema> {
        let names = Self::VARIANTS.iter().map(|scope| scope.as_str());
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some("Permission of a key."))
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
    /// Scopes of a network's first key: everything except operator tasks.
    pub fn owner() -> Self {
        Scope::VARIANTS.iter().copied().filter(|scope| *scope != Scope::Operator).collect()
    }

    /// True if these include `scope`, directly or through a larger one.
    pub fn allow(self, scope: Scope) -> bool {
        self.holds(scope) || scope.included_in().is_some_and(|larger| self.holds(larger))
    }

    /// True if these include all of `others`.
    pub fn cover(self, others: Self) -> bool {
        others.iter().all(|scope| self.allow(scope))
    }

    /// Scopes in their fixed order.
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::VARIANTS.iter().copied().filter(move |scope| self.holds(*scope))
    }

    /// Database form.
    pub fn to_text(self) -> String {
        self.iter().map(Scope::as_str).collect::<Vec<_>>().join(" ")
    }

    /// Parses the database form. Scopes of newer hubs are ignored.
    pub fn from_text(text: &str) -> Self {
        text.split(' ').filter_map(|name| name.parse().ok()).collect()
    }

    /// Reads the database form strictly.
    pub fn check_text(text: &str) -> Result<(), String> {
        text.split(' ').filter(|name| !name.is_empty()).try_for_each(|name| name.parse::<Scope>().map(drop))
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

/// Identifies a key and its secret, so that they can be checked again later.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Credential {
    pub(super) id: KeyId,
    pub(super) sha256: Vec<u8>,
}

/// A valid key.
#[derive(Clone, Debug)]
pub struct ActiveKey {
    /// Network of the key.
    pub network: NetworkId,
    /// Key id.
    pub id: KeyId,
    /// Name given by the owner.
    pub name: String,
    /// Credential from the request.
    pub credential: Credential,
    /// Scopes of the key.
    pub(crate) scopes: Scopes,
    /// Restrictions of the key.
    pub bindings: Bindings,
    /// Expiry of the key.
    pub expires_at: Option<Millis>,
    /// True for a person's session.
    pub(crate) is_person: bool,
}

/// Row of a key, joined with columns of its network.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct KeyRow {
    pub network_id: NetworkId,
    pub key_id: KeyId,
    pub name: String,
    pub scopes: String,
    pub sha256: Vec<u8>,
    pub previous_sha256: Option<Vec<u8>>,
    pub previous_until: Option<Millis>,
    pub created_at: Millis,
    /// Key or person that created it.
    pub created_by: Option<String>,
    pub expires_at: Option<Millis>,
    pub revoked_at: Option<Millis>,
    pub last_used_at: Option<Millis>,
    pub servers: Option<String>,
    pub addresses: Option<String>,
    pub suspended: bool,
    /// State of the network's move to another hub or from one.
    pub move_state: Option<String>,
    /// Address of the hub to which it moves or has moved.
    pub moved_to: Option<String>,
}

impl KeyRow {
    /// Restrictions of the key.
    pub fn bindings(&self) -> Bindings {
        Bindings::from_text(self.servers.as_deref(), self.addresses.as_deref())
    }
}
