//! People: they are invited to networks by mail, sign in, and act by the role that each network gave them.
//!
//! Invariants: of a password only its argon2id hash is stored, of tokens and recovery codes only their SHA-256; passwords
//! are hashed on threads of their own, few at a time; wrong ones are counted by account, known or not, and
//! by address; an answer tells nobody who has an account; nobody gives a role beyond their own; a password that was reset
//! ends all sessions.
//! Tables: `persons`, `person_openid_subjects`, `person_sessions`, `person_recovery_codes`, `sign_in_failures`, which are the
//! hub's; and of networks `network_members` and `person_links`. `auth` reads those that say who calls.

mod model;
mod openid;
mod password;
mod routes;
mod sender;
pub(crate) mod service;
mod store;

use std::time::Duration;

use tokio::sync::Notify;

pub(crate) use routes::{public, router};

use crate::app::App;
use crate::background::every;
use crate::config::Settings;
use crate::people::openid::Provider;
use crate::people::password::Hashing;

const SWEEP_INTERVAL: Duration = Duration::from_mins(10);

/// What the component keeps in memory.
#[derive(Debug)]
pub(crate) struct People {
    hashing: Hashing,
    /// The OpenID provider, where the operator chose one.
    openid: Option<Provider>,
    /// Wakes the sender: a mail may have become due.
    wake: Notify,
}

impl People {
    /// # Errors
    /// Where the settings of the OpenID provider are incomplete or wrong.
    pub(crate) fn open(settings: &Settings) -> anyhow::Result<Self> {
        Ok(Self { hashing: Hashing::default(), openid: Provider::new(settings)?, wake: Notify::new() })
    }
}

/// Starts the background work.
pub(crate) fn start(app: &App) {
    sender::start(app);
    every(app, SWEEP_INTERVAL, "delete what has ended of people", async |app| {
        store::delete_ended(&app.db, app.clock.now()).await
    });
}
