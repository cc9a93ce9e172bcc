//! Opening a world.

use uuid::Uuid;

use super::boot::{self, choose, nodes};
use super::{expiry, publish_state};
use crate::app::App;
use crate::clock::Millis;
use crate::limits::{self, Limit, check_rows};
use crate::presence::{self, LiveServer, Presence, Reservation, free_slots};
use crate::secrets::signing_key;
use crate::values::{Identifier, NetworkId, PlayerId};
use crate::worlds::link;
use crate::worlds::model::{Lease, LeaseState, MAX_WAIT, OpenWorldRequest, WorldRef};
use crate::worlds::service::error::WorldsError;
use crate::worlds::store;
use crate::worlds::store::leases::NewLease;

/// Maximum number of attempts when others end the world's lease at the same time.
const ATTEMPTS: usize = 3;
/// Opening a world restarts its time without players, which is written at most this often.
const EXPECT_AGAIN_AFTER: Millis = 60_000;

const NODE_SILENT: &str = "The world's node does not answer; the world can be opened again once its lease has expired.";
const BUSY: &str = "The world is being unloaded; open it again.";

/// The outcome of opening a world.
#[derive(Debug)]
pub(in crate::worlds) enum Opened {
    /// It is up, and a slot may be reserved there for its owner.
    Up { id: i64, server: Box<LiveServer>, transfer: Option<Uuid> },
    /// It boots.
    Booting { id: i64 },
    /// It is unavailable now, for this reason.
    Refused(String),
}

/// Opens a world: finds it up or booting, or has a node boot it. `hub_url` is the hub's URL for the caller.
pub(in crate::worlds) async fn open(
    app: &App,
    network: NetworkId,
    request: &OpenWorldRequest,
    hub_url: &str,
) -> Result<Opened, WorldsError> {
    let now = app.clock.now();
    if let Some(lease) = store::leases::live(&app.db, network, &request.world, now).await?
        && let Some(opened) = found(app, network, &lease, &request.world, now).await?
    {
        return Ok(opened);
    }
    let is_there = store::worlds::exists(&app.db, network, &request.world);
    let _adding = check_rows::<WorldsError>(app, network, store::worlds::WORLDS, 1, is_there).await?;
    for _ in 0..ATTEMPTS {
        match lease_new(app, network, request, hub_url, now).await {
            Ok(Leased::New(id)) => return Ok(Opened::Booting { id }),
            Ok(Leased::Existing(lease)) => {
                if let Some(opened) = found(app, network, &lease, &request.world, now).await? {
                    return Ok(opened);
                }
            }
            Err(WorldsError::NoNode) => {
                return Ok(Opened::Refused(boot::why_no_node(app, network, &request.world.game_id, now)));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(Opened::Refused(BUSY.to_owned()))
}

enum Leased {
    New(i64),
    /// Another caller was quicker.
    Existing(Box<Lease>),
}

async fn lease_new(
    app: &App,
    network: NetworkId,
    request: &OpenWorldRequest,
    hub_url: &str,
    now: Millis,
) -> Result<Leased, WorldsError> {
    // Numbers and texts always serialize.
    let seed = request.seed.as_ref().and_then(|seed| serde_json::to_string(seed).ok());
    let key = signing_key(app, link::PURPOSE).await?;
    app.db
        .transaction(async |mut tx| {
            let tx = &mut tx;
            let id = store::worlds::next_id(tx, network).await?;
            if let Some(lease) = store::leases::live(&mut *tx, network, &request.world, now).await? {
                return Ok(Leased::Existing(Box::new(lease)));
            }
            let world = store::worlds::raise_fence(tx, network, &request.world, id).await?;
            for lost in store::leases::mark_expired_lost(tx, network, world.world_no, now).await? {
                publish_state(app, tx, network, lost, LeaseState::Lost).await?;
            }
            let draining = store::leases::is_draining(tx, network, world.world_no, now).await?;
            let leases = store::leases::per_node(&mut *tx, network, now).await?;
            let live = leases.iter().map(|(_, count)| count).sum();
            limits::check(app, Limit::WorldLeases, live, 1)?;
            let preferred = [request.prefer_node.as_ref(), world.blob_node.as_ref()];
            let nodes = nodes(app, network, &world.game_id, preferred, now);
            let node = choose(&nodes, leases).ok_or(WorldsError::NoNode)?;
            let new = NewLease {
                id,
                world_no: world.world_no,
                fence: world.fence,
                node: Some(node).filter(|_| !draining),
                request,
                seed: seed.clone(),
                hub_url,
                opened_at: now,
                expires_at: if draining { now.saturating_add(MAX_WAIT) } else { expiry(app, now) },
            };
            let lease = store::leases::insert(tx, network, new).await?;
            publish_state(app, tx, network, lease.id, LeaseState::Loading).await?;
            if lease.node_server_id.is_some() {
                boot::notify_node(app, tx, network, &lease, &world, &key).await?;
            }
            Ok(Leased::New(lease.id))
        })
        .await
}

/// Answer for a lease that is booting or up; none if it is no longer up.
async fn found(
    app: &App,
    network: NetworkId,
    lease: &Lease,
    world: &WorldRef,
    now: Millis,
) -> Result<Option<Opened>, WorldsError> {
    let (Some(node), LeaseState::Ready) = (&lease.node_server_id, lease.state) else {
        return Ok(Some(Opened::Booting { id: lease.id }));
    };
    if lease.idle_since.is_some_and(|since| now - since >= EXPECT_AGAIN_AFTER)
        && store::leases::expect_players(&app.db, network, lease.id, now).await?.is_none()
    {
        return Ok(None);
    }
    let Some(server) = presence::service::snapshot(app, network, node) else {
        return Ok(Some(Opened::Refused(NODE_SILENT.to_owned())));
    };
    let transfer = player_owner(world).and_then(|owner| reserve_slot(app, network, node, lease.id, owner, now));
    if let Some(slot) = transfer {
        presence::save_reserved(app, network, node, &[slot]).await?;
    }
    Ok(Some(Opened::Up { id: lease.id, server: Box::new(server), transfer }))
}

/// The owner, if it is a player.
fn player_owner(world: &WorldRef) -> Option<PlayerId> {
    world.owner_scope.as_str().eq_ignore_ascii_case("player").then(|| world.owner_id.as_str().parse().ok())?
}

/// Reserves a slot for the owner at the world's node like a match, unless they are there or there is none.
fn reserve_slot(
    app: &App,
    network: NetworkId,
    node: &Identifier,
    world: i64,
    owner: PlayerId,
    now: Millis,
) -> Option<Uuid> {
    let transfer = app.ids.uuid();
    app.state::<Presence>().with(network, |presence| {
        let own = presence.reservation(node, owner, now).map(|_| owner);
        let server = presence.server(node.as_str(), now)?;
        if server.has(owner) || free_slots(server.info.max_players, server.taken(now, own.as_slice())) == 0 {
            return None;
        }
        let world = Identifier::try_from(world.to_string()).ok();
        let expires_at = now.saturating_add(presence::RESERVATION_TTL);
        let slot = Reservation { id: transfer, player: Some(owner), world, promised: true, expires_at };
        presence.reserve(node, slot);
        Some(transfer)
    })
}
