//! The list of all components.

use std::sync::LazyLock;

use crate::component::{Component, Components, Tables};
use crate::config::Settings;

/// All components, in the order of their floors: those below first. They start in this order and stop in the opposite one; the
/// state of a network is restored in it; tables have it in archives, and limits, errors and tags in the documents.
static LIST: &[&Component] = &[
    &hub_core::declarations::HTTP,
    &hub_core::declarations::AUTH,
    &hub_core::declarations::LIMITS,
    &hub_core::declarations::SECRETS,
    &hub_gate::timekeeping::COMPONENT,
    &hub_gate::identity::COMPONENT,
    &hub_gate::database_epoch::COMPONENT,
    &hub_gate::cluster::COMPONENT,
    &hub_gate::network_moves::COMPONENT,
    &hub_gate::client_disconnect::COMPONENT,
    &hub_gate::server_binding::COMPONENT,
    &hub_gate::response_budget::COMPONENT,
    &hub_gate::idempotency::COMPONENT,
    &hub_gate::audit::COMPONENT,
    &hub_gate::metering::COMPONENT,
    &hub_platform::plans::COMPONENT,
    &hub_platform::jobs::COMPONENT,
    &hub_platform::networks::COMPONENT,
    &hub_platform::blobs::COMPONENT,
    &hub_platform::events::COMPONENT,
    &hub_platform::signing_secret::COMPONENT,
    &hub_platform::archive::COMPONENT,
    &hub_extensions::modules::COMPONENT,
    &hub_game::presence::COMPONENT,
    &hub_game::player_sessions::COMPONENT,
    &hub_game::players::COMPONENT,
    &hub_game::play_time::COMPONENT,
    &hub_game::matchmaking::COMPONENT,
    &hub_game::waiting_lines::COMPONENT,
    &hub_game::transfers::COMPONENT,
    &hub_game::chat::COMPONENT,
    &hub_game::punishments::COMPONENT,
    &hub_game::deliveries::COMPONENT,
    &hub_game::staff_notes::COMPONENT,
    &hub_game::reports::COMPONENT,
    &hub_game::appeals::COMPONENT,
    &hub_game::permissions::COMPONENT,
    &hub_game::economy::COMPONENT,
    &hub_game::statistics::COMPONENT,
    &hub_game::localization::COMPONENT,
    &hub_game::config_documents::COMPONENT,
    &hub_game::collections::COMPONENT,
    &hub_game::worlds::COMPONENT,
    &hub_game::control::COMPONENT,
    &hub_operation::provisioning::COMPONENT,
    &hub_operation::artifacts::COMPONENT,
    &hub_operation::webhooks::COMPONENT,
    &hub_operation::imports::COMPONENT,
    &hub_operation::people::COMPONENT,
    &hub_operation::overview::COMPONENT,
    &hub_operation::erasure::COMPONENT,
    &hub_operation::waitlist::COMPONENT,
    &hub_operation::doctor::COMPONENT,
    &hub_operation::health::COMPONENT,
    &hub_operation::monitoring::COMPONENT,
];

static COMPONENTS: LazyLock<Components> = LazyLock::new(|| Components::new(LIST));

/// All components of the hub.
pub fn components() -> &'static Components {
    &COMPONENTS
}

/// Fails if the operator lowers a limit that is none, or raises one.
pub fn check_limits(settings: &Settings) -> anyhow::Result<()> {
    settings.limits.check(COMPONENTS.limits()).map_err(anyhow::Error::msg)
}

/// All tables of the hub.
pub fn tables() -> &'static Tables {
    COMPONENTS.tables()
}
