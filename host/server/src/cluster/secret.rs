//! The word by which nodes know each other: who passes a request on vouches for where it came from.

use std::net::{IpAddr, SocketAddr};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;

use crate::app::App;
use crate::secrets::signing_key;

/// What the secret is for; it signs nothing else.
const PURPOSE: &str = "node";

/// Vouches for where a request came from.
pub(super) async fn sign(app: &App, from: SocketAddr) -> Result<String, hub_db::Error> {
    let signature = signing_key(app, PURPOSE).await?.sign(from.to_string().as_bytes());
    Ok(format!("{from} {}", BASE64.encode(signature)))
}

/// Where a request came from that another node passed on; none where no node vouches for it.
pub(super) async fn read(app: &App, header: &str) -> Result<Option<SocketAddr>, hub_db::Error> {
    let Some((from, signature)) = header.split_once(' ') else { return Ok(None) };
    let Ok(signature) = BASE64.decode(signature) else { return Ok(None) };
    let good = signing_key(app, PURPOSE).await?.verify(from.as_bytes(), &signature);
    Ok(good.then(|| from.parse().ok()).flatten())
}

/// Where a request came from whose connection is not known.
pub(super) const NOWHERE: SocketAddr = SocketAddr::new(IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);
