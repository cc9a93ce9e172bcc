//! Servers in the registry.

use crate::clock::Millis;
use crate::geo::Region;
use crate::servers::model::ServerInfo;
use crate::servers::provisioned::ProvisionedServer;
use crate::servers::snapshot::LiveServer;
use crate::values::Identifier;

/// A registry row.
#[derive(Clone, Debug)]
pub(crate) struct RegistryRow {
    pub(crate) info: ServerInfo,
    pub(crate) first_seen: Millis,
    pub(crate) last_seen: Millis,
}

/// A server that has registered.
#[derive(Debug)]
pub(crate) struct RegisteredServer {
    pub(crate) row: RegistryRow,
    /// Live state, while it is online.
    pub(crate) live: Option<LiveServer>,
    /// True if its machine was created by a provisioner.
    pub(crate) provisioned: bool,
}

/// A server of the registry.
#[derive(Debug)]
pub(crate) enum KnownServer {
    /// The server has registered.
    Registered(Box<RegisteredServer>),
    /// It has not registered: its machine is being provisioned.
    Provisioning(Box<ProvisionedServer>),
}

impl KnownServer {
    pub(crate) fn id(&self) -> &Identifier {
        match self {
            Self::Registered(server) => &server.row.info.server_id,
            Self::Provisioning(server) => &server.server_id,
        }
    }
}

/// Filter of a list of servers; a field that is none matches all.
#[derive(Debug, Default)]
pub(crate) struct Search {
    pub(crate) server_type: Option<String>,
    pub(crate) region: Option<Region>,
    /// Part of the id or display name.
    pub(crate) text: Option<String>,
    /// Only servers that are online, or only those that are not.
    pub(crate) online: Option<bool>,
}
