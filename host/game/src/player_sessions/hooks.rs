//! Work of the components above at the beginning and at the end of a session.

use futures_util::future::BoxFuture;
use hub_db::{Error, Tx};

use crate::app::App;
use crate::clock::Millis;
use crate::player_sessions::model::Session;
use crate::values::{NetworkId, PlayerId};

/// Writes of a component above about a player whose session opens.
pub trait SessionBegins: Sync {
    /// Runs in the transaction that opens the session, and again if it is tried again.
    fn begun<'a>(
        &'a self,
        tx: &'a mut Tx,
        network: NetworkId,
        player: PlayerId,
        at: Millis,
    ) -> BoxFuture<'a, Result<(), Error>>;
}

/// A component that keeps something of each session that ends.
pub trait SessionEnds: Send + Sync {
    /// Runs in the transaction that ends the session, in whatever way.
    fn ended<'a>(
        &'a self,
        app: &'a App,
        tx: &'a mut Tx,
        network: NetworkId,
        session: &'a Session,
        at: Millis,
    ) -> BoxFuture<'a, Result<(), Error>>;
}

/// The hook as a state.
pub struct EndHooks(pub &'static dyn SessionEnds);
