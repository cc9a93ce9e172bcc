//! Servers in the registry.

use crate::clock::Millis;
use crate::geo::Region;
use crate::presence::model::ServerInfo;
use crate::presence::provisioned::ProvisionedServer;
use crate::presence::snapshot::LiveServer;
use crate::values::Identifier;

/// A registry row.
#[derive(Clone, Debug)]
pub struct RegistryRow {
    pub info: ServerInfo,
    pub(crate) first_seen: Millis,
    pub last_seen: Millis,
}

/// A server that has registered.
#[derive(Debug)]
pub struct RegisteredServer {
    pub row: RegistryRow,
    /// Live state, while it is online.
    pub live: Option<LiveServer>,
    /// True if its machine was created by a provisioner.
    pub provisioned: bool,
}

/// A server of the registry.
#[derive(Debug)]
pub enum KnownServer {
    /// The server has registered.
    Registered(Box<RegisteredServer>),
    /// It has not registered: its machine is being provisioned.
    Provisioning(Box<ProvisionedServer>),
}

impl KnownServer {
    pub fn id(&self) -> &Identifier {
        match self {
            Self::Registered(server) => &server.row.info.server_id,
            Self::Provisioning(server) => &server.server_id,
        }
    }
}

/// Filter of a list of servers; a field that is none matches all.
#[derive(Debug, Default)]
pub(crate) struct Search {
    pub server_type: Option<String>,
    pub region: Option<Region>,
    /// Part of the id or display name.
    pub text: Option<String>,
    /// Only servers that are online, or only those that are not.
    pub online: Option<bool>,
}
