//! The hub's commands against a hub behind a TLS proxy.

use std::process::{Command, Output};
use std::sync::Arc;

use tempfile::TempDir;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::support::{Backend, Client, Hub, certificate};

/// Starts a TLS proxy in front of a hub; returns its URL.
pub async fn proxy(hub: &Hub, certificate: &str, key: &str) -> String {
    let provider = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = provider.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    let chain = vec![CertificateDer::from_pem_file(certificate).unwrap()];
    let config = config.with_single_cert(chain, PrivateKeyDer::from_pem_file(key).unwrap()).unwrap();
    let (acceptor, hub) = (TlsAcceptor::from(Arc::new(config)), hub.address());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://localhost:{}", listener.local_addr().unwrap().port());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let mut outside = acceptor.accept(stream).await?;
                let mut inside = TcpStream::connect(hub).await?;
                tokio::io::copy_bidirectional(&mut outside, &mut inside).await
            });
        }
    });
    url
}

/// `hub module list` with this certificate as the only authority.
async fn list(url: &str, owner: &Client, trusted: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hub"));
    command.args(["module", "list", "--hub", url]).env("HUB_KEY", owner.key.as_deref().unwrap());
    command.env("SSL_CERT_FILE", trusted).env_remove("SSL_CERT_DIR");
    tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_call_only_a_hub_with_a_trusted_certificate() {
    let hub = Hub::start(Backend::sqlite()).await;
    let owner = hub.network().await;
    let (folder, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let (trusted, key) = certificate(folder.path());
    let url = proxy(&hub, &trusted, &key).await;
    let listed = list(&url, &owner, &trusted).await;
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));

    let (untrusted, _) = certificate(other.path());
    let refused = list(&url, &owner, &untrusted).await;
    assert!(!refused.status.success());
    let error = String::from_utf8_lossy(&refused.stderr);
    assert!(error.contains("invalid peer certificate"), "{error}");
}
