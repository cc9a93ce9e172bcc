//! Texts of the candidates of this matchmaking call, by their `index`. Answered from memory; only [`players`] is a
//! host call to data. An index that is not of this call ends it as failed.

use crate::HostError;
use crate::host::candidates as host;

/// The id of the server (for a world: of the server it is on).
pub fn server_id(candidate: u32) -> String {
    host::server_id(candidate)
}

/// The type of the server (for a world: of the server it is on).
pub fn server_type(candidate: u32) -> String {
    host::server_type(candidate)
}

/// The display name of the server or world.
pub fn display_name(candidate: u32) -> String {
    host::display_name(candidate)
}

/// The id of the world; empty for a server.
pub fn world_id(candidate: u32) -> String {
    host::world_id(candidate)
}

/// The type of the world; empty for a server.
pub fn world_type(candidate: u32) -> String {
    host::world_type(candidate)
}

/// The game state sent by the server, such as `WAITING`.
pub fn state_name(candidate: u32) -> String {
    host::state_name(candidate)
}

/// The name of a region's number, such as `EUROPE`.
pub fn region_name(region: u16) -> String {
    host::region_name(region)
}

/// The number of a region in this call; none if neither a candidate nor the player is in it.
pub fn region_number(name: &str) -> Option<u16> {
    host::region_number(name)
}

/// The UUIDs of the players on the server or world, at most 200.
pub fn players(candidate: u32) -> Result<Vec<String>, HostError> {
    host::players(candidate)
}
