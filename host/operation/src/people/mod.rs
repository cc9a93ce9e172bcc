//! People: invited to networks by mail, they sign in and act by the role that each network gave them.
//!
//! Invariants: of a password only its argon2id hash is stored, of tokens and recovery codes only their SHA-256;
//! passwords are hashed on separate threads, few at a time; wrong ones are counted by account, known or not, and by
//! address; answers do not reveal the existence of accounts; no one grants a role above their own; a password reset
//! ends all sessions.
//! Tables: `persons`, `person_openid_subjects`, `person_sessions`, `person_recovery_codes`, `pending_sign_ins`, `sign_in_failures`, which
//! belong to the hub; `network_members` and `person_links`, which belong to networks. `auth` reads those that identify
//! callers.

mod model;
mod openid;
mod password;
mod routes;
mod sender;
pub mod service;
mod store;

use std::time::Duration;

use tokio::sync::Notify;

pub use routes::{public, router};

use crate::app::App;
use crate::background::every;
use crate::config::Settings;
use crate::people::openid::Provider;
use crate::people::password::Hashing;

const SWEEP_INTERVAL: Duration = Duration::from_mins(10);

/// State of the component in memory.
#[derive(Debug)]
pub struct People {
    hashing: Hashing,
    /// The OpenID provider, if the operator configured one.
    openid: Option<Provider>,
    /// Wakes the sender: a mail may have become due.
    wake: Notify,
}

impl People {
    /// # Errors
    /// Fails if the settings of the OpenID provider are incomplete or wrong.
    pub fn open(settings: &Settings) -> anyhow::Result<Self> {
        Ok(Self { hashing: Hashing::default(), openid: Provider::new(settings)?, wake: Notify::new() })
    }
}

/// Starts the background work.
pub fn start(app: &App) {
    sender::start(app);
    every(app, SWEEP_INTERVAL, "delete expired sessions and links", async |app| {
        store::delete_ended(&app.db, app.clock.now()).await
    });
}
