//! What sessions answer.

use crate::clock::Millis;
use crate::control;
use crate::servers::provisioned::ProvisionedServer;
use crate::servers::{LiveServer, RegisteredServer};
use crate::values::Identifier;

/// The session of a server that registered.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) server_id: Identifier,
    pub(super) heartbeat_interval: Millis,
    pub(super) offline_after: Millis,
    pub(super) signing_secret: String,
}

/// A registry row joined with presence and control.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) registered: RegisteredServer,
    pub(super) live: Option<LiveServer>,
    /// Its event stream is open.
    pub(super) connected: bool,
    /// The last report of its node agent.
    pub(super) control: Option<control::Report>,
    /// Its machine was made by a provisioner.
    pub(super) provisioned: bool,
}

/// A server in a list.
#[derive(Debug)]
pub(super) enum Listed {
    /// It has registered.
    Registered(Box<Record>),
    /// Its machine is being made.
    Provisioning(Box<ProvisionedServer>),
}
