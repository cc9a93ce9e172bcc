//! The hub's time: it goes on with the machine's uptime, and clocks that jump do not move it.
//!
//! The authority is the machine's clock, and in a cluster the database's. Differences below a minute are made up for
//! slowly. A larger one is a contradiction: the hub keeps its own time, reports the fault `clock`, and deletes, closes
//! and expires nothing for good ([`Clock::settled`]) until the authority is right again, two sources have agreed for
//! ten minutes, or the operator confirms the time (`hub admin clock confirm`). At a start, the authority is held against the
//! times that were proven before.
//!
//! A clock that is set ends nothing: what ends at a time of day unless it is renewed gets a full term by the new time
//! ([`Term`](crate::component::Term)), and times in memory move along. The first node of a cluster that is sure of a time
//! tells the others, so that they follow within a second.
//! Tables: `clock_anchors`, `clock_confirmation`.

mod correction;
mod reading;
mod store;
mod synchronised;
mod trust;
mod watch;

pub use reading::{Reading, clock_offset};
pub use store::confirm;
pub use watch::{Timekeeping, clock_of};

use crate::component::{Component, TableRule};

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "keeps the time of the hub, which clocks that jump do not move ([clocks](../operate/clocks.md))",
    tables: &[
        TableRule::hub("clock_anchors").not_backed_up("a restored hub runs at another time"),
        TableRule::hub("clock_confirmation").not_backed_up("a confirmation of minutes"),
    ],
    register: |states, _| {
        states.insert(Timekeeping::default());
        Ok(())
    },
    background: watch::start,
    ..Component::new(module_path!())
};
