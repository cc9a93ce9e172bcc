//! Has the network's modules decide about new tickets: their priority, or a refusal.

use hub_sandbox::PlaceTicket;
use hub_sandbox::contract::PlayerRef;
use hub_sandbox::contract::queue::{Decision, Ticket};

use crate::app::App;
use crate::matchmaking::{Destination, MatchRequest, Mode, PlayerContext};
use crate::modules::service::{self as modules, Point, has_chain};
use crate::presence::{LiveWorld, NetworkPresence, Presence};
use crate::values::{Identifier, NetworkId, PlayerId};

/// Priority of a new ticket: the modules' instead of the `asked` one, if they decide. The error is their reason for a
/// refusal.
pub(super) async fn priority(
    app: &App,
    network: NetworkId,
    request: &MatchRequest,
    context: &PlayerContext,
    asked: i64,
) -> Result<i64, String> {
    if !has_chain(app, network, Point::Queue) {
        return Ok(asked);
    }
    let ticket = app.state::<Presence>().with(network, |presence| ticket(presence, request, context));
    match modules::call::<PlaceTicket>(app, network, ticket).await {
        None => Ok(asked),
        Some(Decision::Admit(priority)) => Ok(i64::from(priority)),
        Some(Decision::Refuse(reason)) => Err(reason),
    }
}

fn ticket(presence: &NetworkPresence, request: &MatchRequest, context: &PlayerContext) -> Ticket {
    let player = |player: PlayerId, name: Option<&Identifier>| {
        let name = name.cloned().or_else(|| presence.locate(player, context.now)?.player_name);
        PlayerRef { uuid: player.to_string(), name: name.map(Identifier::into_string).unwrap_or_default() }
    };
    let mut members = context.members();
    let leader = members.next().map(|id| player(id, request.player_name.as_ref()));
    let (server_type, world_type) = wanted(presence, &request.mode, context);
    Ticket {
        player: leader.unwrap_or_else(|| PlayerRef { uuid: String::new(), name: String::new() }),
        members: members.map(|id| player(id, None)).collect(),
        server_type: server_type.map(Identifier::into_string).unwrap_or_default(),
        world_type: world_type.map(Identifier::into_string),
        region: context.region.as_ref().map(ToString::to_string),
    }
}

/// Types of the servers and worlds that a ticket waits for. Those of a single server are known while it is online.
fn wanted(
    presence: &NetworkPresence,
    mode: &Mode,
    context: &PlayerContext,
) -> (Option<Identifier>, Option<Identifier>) {
    match mode {
        Mode::Server { server_type } => (Some(server_type.clone()), None),
        Mode::World { server_type, world_type } => (Some(server_type.clone()), world_type.clone()),
        Mode::Direct(Destination { server_id, world_id }) => {
            let Some(server) = presence.server(server_id.as_str(), context.now) else { return (None, None) };
            let is_it = |report: &&LiveWorld| Some(&report.report.world_id) == world_id.as_ref();
            let world = server.worlds.iter().find(is_it);
            let world_type = world.and_then(|world| world.report.world_type.clone());
            (Some(server.info.server_type.clone()), world_type)
        }
    }
}
