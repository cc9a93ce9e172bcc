//! NATS with less storage than the stream of events asks for.

use crate::common::{NETWORK, chat};
use crate::nats::Nats;
use hub_bus::{Bus, BusConfig, Cluster, ClusterConfig, ClusterError};

#[tokio::test]
async fn small_storage_shortens_the_history() {
    let nats = Nats::start_with("jetstream { max_file_store: 300MB }").await;
    let config = ClusterConfig::new(&nats.url(), "one");
    assert_eq!(Cluster::probe(config.clone()).await.unwrap(), None);
    let cluster = Cluster::connect(config.clone()).await.unwrap();
    assert_eq!(Cluster::probe(config).await.unwrap(), Some(256 << 20));
    let bus = Bus::clustered(BusConfig::new(0), cluster).await.unwrap();
    bus.publish(NETWORK, chat(None), 0).await.unwrap();
}

#[tokio::test]
async fn too_little_storage_is_named() {
    for configuration in [
        "jetstream { max_file_store: 60MB }",
        "jetstream {}\naccounts { A { jetstream { max_file: 60MB, max_mem: 0 }, users [{user: u, password: p}] } }",
    ] {
        let nats = Nats::start_with(configuration).await;
        let url = nats.url().replace("nats://", "nats://u:p@");
        let error = Cluster::connect(ClusterConfig::new(&url, "one")).await.expect_err("it connects");
        assert!(matches!(error, ClusterError::Storage { mib: 64 }) && error.is_unavailable(), "{error:?}");
        assert!(error.to_string().contains("less than 64 MiB") && error.to_string().contains("max_file_store"));
    }
}

#[tokio::test]
async fn missing_jetstream_is_noticed_without_creating_a_stream() {
    let mut nats = Nats::start().await;
    nats.kill(false);
    nats.restart_without_jetstream().await;
    let error = Cluster::probe(ClusterConfig::new(&nats.url(), "one")).await.expect_err("it answers");
    assert!(matches!(error, ClusterError::Stream(_)), "{error:?}");
}
