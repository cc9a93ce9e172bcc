//! Has the network's modules decide about players who join.

use hub_sandbox::CheckLogin;
use hub_sandbox::contract::PlayerRef;
use hub_sandbox::contract::login::{Attempt, Decision, Refusal};

use crate::app::App;
use crate::auth::Caller;
use crate::geo::Region;
use crate::http::error::LoginVerdict;
use crate::modules::service::{self as modules, Point, address_hash, has_chain};
use crate::players::model::LoadRequest;
use crate::players::store;
use crate::presence::Presence;
use crate::values::{Identifier, PlayerId};

/// Asks the modules about a player, before anything of the request is stored. `server` is the one that asks, if the
/// request names it.
pub(super) async fn check(
    app: &App,
    caller: &Caller,
    player: PlayerId,
    request: &LoadRequest,
    server: Option<&Identifier>,
) -> Result<LoginVerdict, hub_db::Error> {
    let network = caller.network;
    if !has_chain(app, network, Point::Login) {
        return Ok(LoginVerdict::ALLOWED);
    }
    let known = store::find(&app.db, network, player).await?;
    let name = request.username.as_ref().map(|name| name.as_str().to_owned());
    let name = name.or_else(|| known.as_ref()?.username.clone());
    let region = request.ip.and_then(|ip| app.geo.locate(ip)).map(|located| located.region);
    let region = region.or_else(|| Some(known.as_ref()?.region.clone())).unwrap_or_else(Region::unknown);
    let server = server.cloned().or_else(|| asking(app, caller, player));
    let attempt = Attempt {
        player: PlayerRef { uuid: player.to_string(), name: name.unwrap_or_default() },
        ip_hash: request.ip.map(|ip| address_hash(app, network, ip.to_canonical())),
        region: region.to_string(),
        server_id: server.map(Identifier::into_string).unwrap_or_default(),
        first_join: known.is_none(),
    };
    Ok(match modules::call::<CheckLogin>(app, network, attempt).await {
        Decision::Allow => LoginVerdict::ALLOWED,
        Decision::Refuse(Refusal { reason, kind }) => LoginVerdict::refused(reason, kind),
    })
}

/// Server of a request that names none: the only one of the caller's key, or else the player's.
fn asking(app: &App, caller: &Caller, player: PlayerId) -> Option<Identifier> {
    if let Some([server]) = caller.bindings.servers.as_deref() {
        return Some(server.clone());
    }
    let now = app.clock.now();
    let at = app.state::<Presence>().with(caller.network, |presence| presence.locate(player, now));
    at.map(|at| at.server_id)
}
