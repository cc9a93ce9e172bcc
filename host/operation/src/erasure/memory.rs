//! Removes a player from this node's memory.

use crate::app::App;
use crate::erasure::subject::Subject;
use crate::modules::Modules;
use crate::players::PlayerRegions;
use crate::values::NetworkId;
use crate::{chat, presence, waiting_lines};

/// Removes the player from presence, caches, logs and recorded calls of modules, and from events that streams may
/// resume from.
pub(super) async fn forget(app: &App, network: NetworkId, subject: &Subject) -> Result<(), hub_db::Error> {
    let player = subject.player;
    app.state::<PlayerRegions>().forget_player(network, player);
    app.state::<Modules>().forget_texts(network, |text| subject.is_mentioned(text));
    app.bus.redact(network.0.as_u128(), |frame| subject.is_mentioned(&String::from_utf8_lossy(frame)));
    forget_chat(app, network, subject).await;
    presence::service::forget_player(app, network, player).await?;
    waiting_lines::service::forget_player(app, network, player).await
}

/// Removes chat lines about the player that are not stored yet.
pub(super) async fn forget_chat(app: &App, network: NetworkId, subject: &Subject) {
    chat::service::forget_texts(app, network, |line| subject.is_mentioned(line)).await;
}
