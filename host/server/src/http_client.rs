//! Requests to other services, and to hubs: by HTTP, and by HTTPS where who answers proves who it is.

use std::sync::{Arc, LazyLock};

use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};

/// The certificate authorities of this system, or those in the file that `SSL_CERT_FILE` names. Where there are none nobody is
/// trusted by HTTPS.
static AUTHORITIES: LazyLock<Arc<RootCertStore>> = LazyLock::new(|| {
    let mut authorities = RootCertStore::empty();
    let native = rustls_native_certs::load_native_certs();
    let (_, unusable) = authorities.add_parsable_certificates(native.certs);
    if !native.errors.is_empty() || unusable > 0 {
        tracing::debug!(errors = ?native.errors, unusable, "some of the system's certificates can't be used");
    }
    Arc::new(authorities)
});

/// A client.
///
/// # Errors
/// Where TLS can't be set up.
pub fn client() -> anyhow::Result<reqwest::Client> {
    Ok(builder()?.build()?)
}

/// A client with settings of its own.
///
/// # Errors
/// As [`client`].
#[allow(clippy::disallowed_methods)] // This is where it is used.
pub fn builder() -> anyhow::Result<reqwest::ClientBuilder> {
    let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(Arc::clone(&AUTHORITIES))
        .with_no_client_auth();
    Ok(reqwest::Client::builder().tls_backend_preconfigured(tls))
}
