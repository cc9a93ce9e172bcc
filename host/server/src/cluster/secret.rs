//! Signs the client address of forwarded requests, so that a node trusts it only from another node.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use subtle::ConstantTimeEq as _;
use tokio::sync::OnceCell;

use crate::app::App;
use crate::mac::hmac_sha256;

/// Part of everything signed, so that a signature is valid for nothing else.
const PURPOSE: &str = "node";
const SECRET_LENGTH: usize = 48;

/// Stands for the address of a client whose connection is unknown.
pub(super) const UNKNOWN_ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// The secret that all nodes share.
#[derive(Debug, Default)]
pub(super) struct NodeSecret(OnceCell<String>);

impl NodeSecret {
    async fn load(&self, app: &App) -> Result<&str, hub_db::Error> {
        let load = async || crate::artifacts::hub_secret(app, PURPOSE, SECRET_LENGTH).await;
        self.0.get_or_try_init(load).await.map(String::as_str)
    }

    /// The header that vouches for a client's address.
    pub(super) async fn sign(&self, app: &App, client: SocketAddr) -> Result<String, hub_db::Error> {
        Ok(format!("{client} {}", BASE64.encode(mac(self.load(app).await?, &client.to_string()))))
    }

    /// The client's address in a header of another node; `None` where the signature is not a node's.
    pub(super) async fn verify(&self, app: &App, header: &str) -> Result<Option<SocketAddr>, hub_db::Error> {
        let Some((client, signature)) = header.split_once(' ') else { return Ok(None) };
        let Ok(signature) = BASE64.decode(signature) else { return Ok(None) };
        let is_valid = mac(self.load(app).await?, client).as_slice().ct_eq(&signature);
        Ok(bool::from(is_valid).then(|| client.parse().ok()).flatten())
    }
}

fn mac(secret: &str, client: &str) -> [u8; 32] {
    hmac_sha256(secret.as_bytes(), &[PURPOSE.as_bytes(), b"\0", client.as_bytes()].concat())
}
