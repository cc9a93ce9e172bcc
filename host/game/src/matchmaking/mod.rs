//! Matchmaking: the best server or world for a player, and a slot reserved there until they arrive.
//!
//! [`find`] is the pipeline. Works on presence alone: a match needs no database, unless it asks for an owner's world or
//! several nodes form one hub; then the slot is saved before the answer. The built-in policy evaluates candidates and
//! chooses one under a single lock. Modules rank outside the lock, and the first ranked candidate that still has room
//! is chosen, so that no slot is given away twice. Large numbers of worlds are surveyed off the threads that serve
//! requests, in batches under the lock; modules and explanations get the best thousand of them.
//!
//! Reservations are part of presence, so there are no tables.

mod candidate;
mod candidates;
mod direct;
mod explain;
mod explanation;
mod find;
mod model;
mod policy;
mod ranking;
mod regions;
mod reserve;
mod routes;
mod withheld;

use crate::component::{Component, Tag};

pub(crate) use candidate::{Candidate, Ineligibility, PlayerContext, coming};
pub(crate) use candidates::{are_many, best, decide};
pub(crate) use find::{offer, player_context};
pub(crate) use model::{Affinity, Destination, Match, MatchRequest, MatchResult, Mode};
pub(crate) use policy::compare;
pub(crate) use ranking::Offer;
pub(crate) use reserve::{check_reservations, reserve_slot};
pub(crate) use routes::{FindRequest, MatchAnswer, party_members};
pub(crate) use withheld::{WaitingPlayers, WantedSlot, Withheld};

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "the best server or world for a player, and a slot there; reservations are part of presence",
    tags: &[Tag("Matchmaking", "Find the best server or world for a player or a party.")],
    routes: routes::router,
    register: |states, _| {
        states.insert(WaitingPlayers::default());
        Ok(())
    },
    ..Component::new(module_path!())
};
