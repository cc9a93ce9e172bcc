//! The calls of [`HubClient`](crate::HubClient), named as the hub's document names them.

mod deliveries;
mod documents;
mod economy;
mod lines;
mod localization;
mod permissions;
mod players;
mod punishments;
mod servers;
mod worlds;

pub use documents::{DocumentQuery, Order};
pub use players::LoadOptions;
