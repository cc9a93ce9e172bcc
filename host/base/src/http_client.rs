//! HTTP clients that verify certificates against the system's authorities.

use std::error::Error;
use std::sync::{Arc, LazyLock};

use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};

/// Certificate authorities of the system, or from the file in `SSL_CERT_FILE`. Without any, HTTPS fails.
static AUTHORITIES: LazyLock<Arc<RootCertStore>> = LazyLock::new(|| {
    let mut authorities = RootCertStore::empty();
    let native = rustls_native_certs::load_native_certs();
    let (_, unusable) = authorities.add_parsable_certificates(native.certs);
    if !native.errors.is_empty() || unusable > 0 {
        tracing::debug!(errors = ?native.errors, unusable, "some of the system's certificates are unusable");
    }
    Arc::new(authorities)
});

/// Creates a client.
///
/// # Errors
/// If TLS cannot be set up.
pub fn client() -> anyhow::Result<reqwest::Client> {
    Ok(builder()?.build()?)
}

/// Creates a client builder.
#[allow(clippy::disallowed_methods, reason = "the only place that builds clients")]
pub fn builder() -> anyhow::Result<reqwest::ClientBuilder> {
    let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(Arc::clone(&AUTHORITIES))
        .with_no_client_auth();
    Ok(reqwest::Client::builder().tls_backend_preconfigured(tls))
}

/// Formats an error with its causes: a client's error alone is not specific.
pub fn with_causes(error: &dyn Error) -> String {
    let (mut text, mut cause) = (error.to_string(), error.source());
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
