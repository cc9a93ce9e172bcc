//! The hub's own waitlist: people who want to be told of its launch, and the mail that asks whether they really do.
//!
//! Invariants: joining looks the same whether or not the address is on the list; nobody gets more than a few mails an
//! hour through it; a link works once and for 48 hours, and only its hash is kept; a mail that is due is sent after a
//! restart, too. Its rows belong to the operator's network: those who join have none.
//! Tables: `waitlist`, `waitlist_links`.

mod mail;
mod model;
mod page;
mod routes;
mod sender;
pub mod service;
mod store;
mod throttle;

use tokio::sync::Notify;

pub(crate) use routes::{public, router};

use crate::app::App;
use crate::config::Settings;
use crate::waitlist::mail::Mailer;
use crate::waitlist::throttle::Throttle;

/// What the room keeps in memory.
#[derive(Debug)]
pub struct Waitlist {
    mailer: Mailer,
    throttle: Throttle,
    /// A mail may have become due.
    wake: Notify,
}

impl Waitlist {
    /// Fails where the settings for mail make no sense.
    pub fn open(settings: &Settings) -> anyhow::Result<Self> {
        Ok(Self { mailer: Mailer::new(settings)?, throttle: Throttle::default(), wake: Notify::new() })
    }
}

/// Starts the room's background work.
pub(crate) fn start(app: &App) {
    app.spawn(sender::run(app.clone()));
}
