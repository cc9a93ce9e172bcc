//! The network's say: its modules see every line before anybody else does.

use hub_sandbox::FilterChat;
use hub_sandbox::contract::PlayerRef;
use hub_sandbox::contract::chat::{Line, Verdict};

use crate::app::App;
use crate::chat::model::ChatMessage;
use crate::modules::service as modules;
use crate::values::{NetworkId, Text};

/// What becomes of a line.
pub(super) async fn filter(app: &App, network: NetworkId, said: &ChatMessage) -> Verdict {
    modules::call::<FilterChat>(app, network, line(said)).await
}

fn line(said: &ChatMessage) -> Line {
    let text = |text: &Option<Text<255>>| text.as_ref().map(|text| text.as_str().to_owned());
    Line {
        player: PlayerRef { uuid: said.player_uuid.to_string(), name: said.player_name.to_string() },
        message: said.message.as_str().to_owned(),
        server_id: said.server_id.to_string(),
        server_type: text(&said.server_type).unwrap_or_default(),
        world: text(&said.world),
        rank: text(&said.rank),
    }
}
