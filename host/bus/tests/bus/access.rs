//! Authentication between a hub and the bus, in both directions.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use hub_bus::{Bus, BusConfig, Cluster, ClusterConfig};
use nkeys::KeyPair;
use tempfile::TempDir;

use crate::common::{self, NETWORK, chat};
use crate::nats::Nats;

/// A bus that requires credentials and TLS.
struct Guarded {
    nats: Nats,
    folder: TempDir,
}

impl Guarded {
    async fn start(authorization: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let request = "[req]\ndistinguished_name = name\nx509_extensions = ext\nprompt = no\n[name]\nCN = bus\n\
                       [ext]\nsubjectAltName = IP:127.0.0.1\nbasicConstraints = critical,CA:FALSE\n";
        std::fs::write(path("request"), request).unwrap();
        let made = Command::new("openssl")
            .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-config", &path("request")])
            .args(["-keyout", &path("key.pem"), "-out", &path("ca.pem")])
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let tls = format!("tls {{ cert_file: {:?}, key_file: {:?} }}\n", path("ca.pem"), path("key.pem"));
        let nats = Nats::start_with(&format!("{tls}{authorization}\n")).await;
        Self { nats, folder }
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let file = self.folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        file
    }

    /// Connects with these credentials before the host's name.
    async fn connect(&self, credentials: &str, change: impl FnOnce(&mut ClusterConfig)) -> Result<Cluster, String> {
        let url = self.nats.url().replace("nats://", &format!("tls://{credentials}"));
        let mut config = ClusterConfig::new(&url, "node");
        config.ca = Some(self.folder.path().join("ca.pem"));
        change(&mut config);
        Cluster::connect(config).await.map_err(|error| format!("{error} {error:?}"))
    }
}

#[tokio::test]
async fn a_password_lets_in_and_is_never_shown() {
    let bus = Guarded::start("authorization { user: hub, password: \"s3cret@bus\" }").await;
    let cluster = bus.connect("hub:s3cret%40bus@", |_| {}).await.unwrap();
    assert!(cluster.is_connected() && !format!("{cluster:?}").contains("s3cret"));
    for wrong in ["hub:s3cret@", "other:s3cret%40bus@", "s3cret@", ""] {
        let error = bus.connect(wrong, |_| {}).await.unwrap_err();
        assert!(!error.contains("s3cret") && error.contains("the bus at tls://127.0.0.1:"), "{error}");
    }
}

/// `deploy/nats.conf` allows its user no more than this.
#[tokio::test]
async fn a_user_needs_few_subjects() {
    let example = include_str!("../../../../deploy/nats.conf");
    let users = &example[example.find("authorization").unwrap()..];
    let bus = Guarded::start(&users.replace("$HUB_BUS_PASSWORD", "\"s3cret\"")).await;
    let connect = async |node: &str| {
        let cluster = bus.connect("hub:s3cret@", |config| node.clone_into(&mut config.node)).await.unwrap();
        Bus::clustered(BusConfig::new(1), cluster).await.unwrap()
    };
    let (one, two) = (connect("one").await, connect("two").await);
    one.publish(NETWORK, chat(None), 1).await.unwrap();
    let id = two.subscribe(NETWORK, None, None, 5).await.unwrap().start_id();
    one.publish(NETWORK, chat(None), 2).await.unwrap();
    // Live, and once more after a resume.
    for last in [None, Some(id.as_str())] {
        let mut stream = two.subscribe(NETWORK, None, last, 5).await.unwrap();
        if last.is_none() {
            one.publish(NETWORK, chat(None), 3).await.unwrap();
        }
        let next = tokio::time::timeout(Duration::from_secs(20), common::next(&mut stream)).await;
        assert!(next.expect("an event").is_ok());
    }
}

#[tokio::test]
async fn a_token_lets_in() {
    let bus = Guarded::start("authorization { token: \"t0ken\" }").await;
    bus.connect("t0ken@", |_| {}).await.unwrap();
    assert!(!bus.connect("t1ken@", |_| {}).await.unwrap_err().contains("t1ken"));
}

#[tokio::test]
async fn the_bus_must_authenticate() {
    let bus = Guarded::start("").await;
    bus.connect("", |_| {}).await.unwrap();
    // Signed by an authority unknown to the hub.
    let error = bus.connect("", |config| config.ca = None).await.unwrap_err();
    assert!(error.contains("certificate"), "{error}");
    let error = bus.connect("", |config| config.ca = Some("/nowhere/ca.pem".into())).await.unwrap_err();
    assert!(error.contains("/nowhere/ca.pem"), "{error}");
    // A bus without TLS has no certificate of the authority, whatever its address is.
    let open = Nats::start().await;
    for url in [open.url(), open.url().replace("nats://", "tls://")] {
        let config = ClusterConfig { ca: Some(bus.folder.path().join("ca.pem")), ..ClusterConfig::new(&url, "node") };
        assert!(Cluster::connect(config).await.is_err(), "{url}");
    }
}

#[tokio::test]
async fn an_nkey_lets_in() {
    let (known, unknown) = (KeyPair::new_user(), KeyPair::new_user());
    let bus = Guarded::start(&format!("authorization {{ users: [{{ nkey: {} }}] }}", known.public_key())).await;
    let file = bus.file("known", &format!("# The hub's.\n{}\n", known.seed().unwrap()));
    bus.connect("", |config| config.credentials = Some(file)).await.unwrap();
    let file = bus.file("unknown", &unknown.seed().unwrap());
    assert!(bus.connect("", |config| config.credentials = Some(file)).await.is_err());
    let file = bus.file("empty", "nothing\n");
    let error = bus.connect("", |config| config.credentials = Some(file)).await.unwrap_err();
    assert!(error.contains("SU…"), "{error}");
}

/// A JSON Web Token in the form that NATS reads: the issuer's claims about the subject.
fn token(issuer: &KeyPair, subject: &KeyPair, claims: &str) -> String {
    let encode = |text: &str| BASE64_URL_SAFE_NO_PAD.encode(text);
    let claims = format!(
        r#"{{"jti":"x","iat":1700000000,"iss":"{}","sub":"{}","name":"hub","nats":{claims}}}"#,
        issuer.public_key(),
        subject.public_key()
    );
    let signed = format!("{}.{}", encode(r#"{"typ":"JWT","alg":"ed25519-nkey"}"#), encode(&claims));
    format!("{signed}.{}", BASE64_URL_SAFE_NO_PAD.encode(issuer.sign(signed.as_bytes()).unwrap()))
}

#[tokio::test]
async fn a_file_of_credentials_lets_in() {
    let (operator, account, user) = (KeyPair::new_operator(), KeyPair::new_account(), KeyPair::new_user());
    // JetStream requires one.
    let system = KeyPair::new_account();
    let of_operator = token(&operator, &operator, r#"{"type":"operator","version":2}"#);
    let account_with = |account: &KeyPair, jetstream: &str| {
        let limits =
            r#""subs":-1,"data":-1,"payload":-1,"imports":-1,"exports":-1,"wildcards":true,"conn":-1,"leaf":-1"#;
        let claims = format!(r#"{{"type":"account","version":2,"limits":{{{limits}{jetstream}}}}}"#);
        token(&operator, account, &claims)
    };
    let jetstream = r#","mem_storage":-1,"disk_storage":-1,"streams":-1,"consumer":-1"#;
    let (of_account, of_system) = (account_with(&account, jetstream), account_with(&system, ""));
    let of_user = token(&account, &user, r#"{"type":"user","version":2,"subs":-1,"data":-1,"payload":-1}"#);
    let bus = Guarded::start(&format!(
        "operator: {of_operator}\nsystem_account: {system}\nresolver: MEMORY\n\
         resolver_preload: {{ {account}: {of_account}, {system}: {of_system} }}",
        account = account.public_key(),
        system = system.public_key(),
    ))
    .await;
    let credentials = |seed: String| {
        format!(
            "-----BEGIN NATS USER JWT-----\n{of_user}\n------END NATS USER JWT------\n\n\
             -----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n"
        )
    };
    let file = bus.file("hub.creds", &credentials(user.seed().unwrap()));
    bus.connect("", |config| config.credentials = Some(file.clone())).await.unwrap();
    let both = bus.connect("hub:s3cret@", |config| config.credentials = Some(file)).await.unwrap_err();
    assert!(!both.contains("s3cret") && both.contains("file"), "{both}");
    let file = bus.file("wrong.creds", &credentials(KeyPair::new_user().seed().unwrap()));
    assert!(bus.connect("", |config| config.credentials = Some(file)).await.is_err());
    assert!(bus.connect("", |_| {}).await.is_err());
}
