//! The word by which nodes know each other: who passes a request on vouches for where it came from.

use std::net::{IpAddr, SocketAddr};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use subtle::ConstantTimeEq as _;
use tokio::sync::OnceCell;

use crate::app::App;
use crate::mac::hmac_sha256;

/// What the secret is for; it signs nothing else.
const PURPOSE: &str = "node";
const SECRET_LENGTH: usize = 48;

/// The secret that all nodes share.
#[derive(Debug, Default)]
pub(super) struct Secret(OnceCell<String>);

impl Secret {
    async fn text(&self, app: &App) -> Result<&str, hub_db::Error> {
        let make = async || crate::artifacts::hub_secret(app, PURPOSE, SECRET_LENGTH).await;
        self.0.get_or_try_init(make).await.map(String::as_str)
    }

    /// Vouches for where a request came from.
    pub(super) async fn sign(&self, app: &App, from: SocketAddr) -> Result<String, hub_db::Error> {
        Ok(format!("{from} {}", BASE64.encode(mac(self.text(app).await?, &from.to_string()))))
    }

    /// Where a request came from that another node passed on; none where no node vouches for it.
    pub(super) async fn read(&self, app: &App, said: &str) -> Result<Option<SocketAddr>, hub_db::Error> {
        let Some((from, signature)) = said.split_once(' ') else { return Ok(None) };
        let Ok(signature) = BASE64.decode(signature) else { return Ok(None) };
        let good = mac(self.text(app).await?, from).as_slice().ct_eq(&signature);
        Ok(bool::from(good).then(|| from.parse().ok()).flatten())
    }
}

fn mac(secret: &str, from: &str) -> [u8; 32] {
    hmac_sha256(secret.as_bytes(), &[PURPOSE.as_bytes(), b"\0", from.as_bytes()].concat())
}

/// Where a request came from whose connection is not known.
pub(super) const NOWHERE: SocketAddr = SocketAddr::new(IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);
