//! Keys and scopes.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

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
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum Scope {
            $($(#[$doc])* #[serde(rename = $name)] $variant),+
        }

        impl Scope {
            /// All there are.
            pub const ALL: &'static [Scope] = &[$(Scope::$variant),+];

            /// As the wire writes it.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }
        }
    };
}

scopes! {
    /// All of `/api/plugin`.
    Plugin = "plugin",
    /// What node agents and provisioned machines call.
    Agent = "agent",
    /// List servers, read logs.
    ServersRead = "servers:read",
    /// Command servers.
    ServersControl = "servers:control",
    /// Read modules.
    ModulesRead = "modules:read",
    /// Upload, activate, try and remove modules; includes reading.
    ModulesWrite = "modules:write",
    /// The owner's settings and books.
    NetworkManage = "network:manage",
    /// The operator, across networks.
    Operator = "operator",
}

// By hand: a name that a macro hands on is not seen by the derived one.
impl PartialSchema for Scope {
    fn schema() -> RefOr<Schema> {
        let names = Self::ALL.iter().map(|scope| scope.as_str());
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some("What a key may do."))
            .enum_values(Some(names))
            .examples([Self::Plugin.as_str()])
            .into()
    }
}
impl ToSchema for Scope {}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Scope {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.iter().copied().find(|scope| scope.as_str() == text).ok_or_else(|| {
            let known: Vec<_> = Self::ALL.iter().map(|scope| scope.as_str()).collect();
            format!("unknown scope; there are {}", known.join(", "))
        })
    }
}

/// A set of scopes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scopes(u16);

impl Scopes {
    /// What the first key of a network may do: everything but the operator's work.
    pub fn owner() -> Self {
        Scope::ALL.iter().copied().filter(|scope| *scope != Scope::Operator).collect()
    }

    /// Whether a key with these may do what `scope` stands for. Writing modules includes reading them.
    pub fn allow(self, scope: Scope) -> bool {
        self.holds(scope) || (scope == Scope::ModulesRead && self.holds(Scope::ModulesWrite))
    }

    /// Whether a key with these may do everything that a key with `others` may.
    pub fn cover(self, others: Self) -> bool {
        others.iter().all(|scope| self.allow(scope))
    }

    /// The scopes in their fixed order.
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL.iter().copied().filter(move |scope| self.holds(*scope))
    }

    /// As the database writes them.
    pub(crate) fn to_text(self) -> String {
        self.iter().map(Scope::as_str).collect::<Vec<_>>().join(" ")
    }

    /// As the database wrote them. A scope of a newer hub means nothing to this one.
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

/// What a caller showed: which key, and which of its secrets, so that it can be judged again later.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Credential {
    pub(super) id: KeyId,
    pub(super) sha256: Vec<u8>,
}

/// A key that was found good.
#[derive(Clone, Debug)]
pub struct ActiveKey {
    /// The network it belongs to.
    pub network: NetworkId,
    /// Its id.
    pub id: KeyId,
    /// What was shown of it.
    pub credential: Credential,
    /// What it may do.
    pub scopes: Scopes,
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
    pub(crate) suspended: bool,
}
