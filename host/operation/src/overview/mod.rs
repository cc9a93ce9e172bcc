//! A network at a glance: what needs a person's attention, how much of it waits, and the plan with its use.
//!
//! Invariants: each caller sees only what the routes of those things show to them; counts are bounded, so that an answer
//! costs no more in a large network; nothing is stored.

mod attention;
mod counts;
mod plan;
mod routes;
mod search;

use crate::component::{Component, Tag};

/// Number up to which things that wait are counted.
const COUNTED: i64 = 1_000;

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "what waits for a person, and the network's plan with its use ([networks](../operate/networks.md#at-a-glance))",
    tags: &[Tag("Overview", "What needs attention in a network, and its plan with its use.")],
    routes: routes::router,
    ..Component::new(module_path!())
};
