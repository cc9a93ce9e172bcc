//! Signs the client address of forwarded requests, so that a node trusts it only from another node.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;

use crate::app::App;
use crate::secrets::signing_key;

/// Part of all signed data, so that a signature is valid for nothing else.
const PURPOSE: &str = "node";

/// Address of a client with an unknown connection.
pub(super) const UNKNOWN_ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// Signed header with a client's address.
pub(super) async fn sign(app: &App, client: SocketAddr) -> Result<String, hub_db::Error> {
    let signature = signing_key(app, PURPOSE).await?.sign(client.to_string().as_bytes());
    Ok(format!("{client} {}", BASE64.encode(signature)))
}

/// Client address in a header of another node; `None` if the signature is invalid.
pub(super) async fn verify(app: &App, header: &str) -> Result<Option<SocketAddr>, hub_db::Error> {
    let Some((client, signature)) = header.split_once(' ') else { return Ok(None) };
    let Ok(signature) = BASE64.decode(signature) else { return Ok(None) };
    let is_valid = signing_key(app, PURPOSE).await?.verify(client.as_bytes(), &signature);
    Ok(is_valid.then(|| client.parse().ok()).flatten())
}
