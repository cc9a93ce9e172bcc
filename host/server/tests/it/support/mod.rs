//! A hub for one test: real HTTP on a free port, its own database, a manual clock.

mod certificate;
mod client;
mod command;
mod database;
mod document;
mod events;
mod plans;
#[allow(dead_code)]
mod refuse;
mod s3;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hub::app::App;
use hub::auth::{Bindings, OPERATOR_NETWORK, Scope};
use hub::clock::{Clock, ManualClock};
use hub::config::Settings;
use hub::ids::Ids;
use hub::lifecycle;
use hub::networks::service::{self, NewKey, create_key};
use hub::serve::{Server, bind};
use sqlx::{Connection as _, PgConnection};
use tokio::task::JoinHandle;

pub use certificate::certificate;
pub use client::{Answer, Client};
pub use command::{command, fail, run, succeed, text};
pub use database::Backend;
#[allow(unused_imports)]
pub use events::{Event, Events};
pub use s3::S3;

/// Wednesday 2027-03-10 12:00 UTC, the start of every test.
pub const NOW: i64 = 1_804_680_000_000;

/// Runs each test on both databases: `on_both! { async fn name(hub: Hub) { … } }`.
macro_rules! on_both {
    ($($(#[$attribute:meta])* async fn $name:ident($hub:ident: Hub) $body:block)+) => {
        $($(#[$attribute])* async fn $name($hub: $crate::support::Hub) $body)+
        $crate::support::on_each! { $($name($crate::support::Hub::start))+ }
    };
}
pub(crate) use on_both;

/// Runs tests that start hubs themselves on both databases: `on_each! { name }` with a `Backend`, `on_each! {
/// name(start) }` with the result of `start` for one.
macro_rules! on_each {
    ($($name:ident)+) => {
        $crate::support::on_each! { $($name(std::future::ready))+ }
    };
    ($($name:ident($start:expr))+) => {$(
        mod $name {
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn sqlite() {
                super::$name($start($crate::support::Backend::sqlite()).await).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn postgres() {
                super::$name($start($crate::support::Backend::postgres().await).await).await;
            }
        }
    )+};
}
pub(crate) use on_each;

/// Variant of `on_both!` that also runs behind PgBouncer in transaction mode.
macro_rules! on_all {
    ($($(#[$attribute:meta])* async fn $name:ident($hub:ident: Hub) $body:block)+) => {
        $crate::support::on_both! { $($(#[$attribute])* async fn $name($hub: Hub) $body)+ }

        mod behind_pgbouncer {$(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                super::$name($crate::support::Hub::start($crate::support::Backend::pgbouncer().await).await).await;
            }
        )+}
    };
}
pub(crate) use on_all;

pub struct Hub {
    pub app: App,
    pub clock: ManualClock,
    address: SocketAddr,
    http: reqwest::Client,
    pub backend: Backend,
    serving: JoinHandle<()>,
    settings: Settings,
    /// The hub's own clock.
    time: Clock,
}

impl Hub {
    pub async fn start(backend: Backend) -> Self {
        Self::start_with(backend, |_| {}).await
    }

    pub async fn start_with(backend: Backend, change: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = Settings { listen: ([127, 0, 0, 1], 0).into(), ..Settings::default() };
        backend.prepare().await;
        backend.apply(&mut settings);
        settings.modules.compiler = Some(env!("CARGO_BIN_EXE_hub").into());
        settings.imports.reader = Some(env!("CARGO_BIN_EXE_hub").into());
        // For busy machines; the tests of deadlines set their own.
        settings.modules.compute = Some(Duration::from_secs(5));
        settings.modules.load = Some(Duration::from_secs(30));
        settings.database_patience = Some(Duration::from_secs(60));
        change(&mut settings);
        let clock = ManualClock::new(NOW);
        Self::run(backend, settings, clock.clone(), Clock::Manual(clock)).await
    }

    /// A hub on the machine's clock, for tests with other programs.
    pub async fn start_in_real_time(backend: Backend) -> Self {
        let hub = Self::start(backend).await;
        // They must find it at the same address after a restart.
        let settings = Settings { listen: hub.address.into(), ..hub.settings.clone() };
        hub.app.begin_stop();
        hub.serving.await.unwrap();
        lifecycle::finish_stop(&hub.app).await;
        Self::run(hub.backend, settings, hub.clock, Clock::System).await
    }

    async fn run(backend: Backend, settings: Settings, clock: ManualClock, time: Clock) -> Self {
        hub_db::judge_plans(plans::judge_and_keep);
        let listener = bind(settings.listen.resolve("--listen").await.unwrap()).await.unwrap();
        let address = listener.local_addr().unwrap();
        let bound = Settings { listen: address.into(), ..settings.clone() };
        let app = lifecycle::start(bound, time.clone(), Ids::System).await.unwrap();
        let serving = tokio::spawn(Server::new(app.clone()).run(listener));
        Self { app, clock, address, http: hub::http_client::client().unwrap(), backend, serving, settings, time }
    }

    /// Stops the hub like SIGTERM and starts another on the same data, `later` of the clock's time.
    #[allow(dead_code)]
    pub async fn restart(self, later: Duration) -> Self {
        self.app.begin_stop();
        self.serving.await.unwrap();
        lifecycle::finish_stop(&self.app).await;
        self.clock.advance(later);
        Self::run(self.backend, self.settings, self.clock, self.time).await
    }

    /// Stops the hub like SIGTERM and returns its data.
    pub async fn stop(self) -> Backend {
        self.app.begin_stop();
        self.serving.await.unwrap();
        lifecycle::finish_stop(&self.app).await;
        self.backend
    }

    /// Starts another hub on the same data without stopping this one, like after a kill.
    #[allow(dead_code)]
    pub async fn abandon(self, later: Duration) -> Self {
        self.serving.abort();
        self.clock.advance(later);
        Self::run(self.backend, self.settings, self.clock, self.time).await
    }

    /// Waits until this holds, for background work of the hub.
    pub async fn eventually(what: &str, mut holds: impl AsyncFnMut() -> bool) {
        let deadline = tokio::time::Instant::now() + Duration::from_secs(120);
        while !holds().await {
            plans::check_none_refused();
            assert!(tokio::time::Instant::now() < deadline, "never: {what}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// All files of the store of blobs in the data folder, but for the hub's mark.
    pub fn blobs(&self) -> Vec<PathBuf> {
        let all = files(&self.data().join("blobs")).into_iter();
        all.filter(|file| !file.ends_with("hub-cluster")).collect()
    }

    /// A new network, called with its owner's key.
    pub async fn network(&self) -> Client {
        let name = format!("net-{}", self.app.ids.token(8));
        let (id, key) = service::create_network(&self.app.db, &self.app.clock, &self.app.ids, &name).await.unwrap();
        self.with_key(&key.text).for_network(id)
    }

    /// A caller with a key of the operator's.
    #[allow(dead_code)]
    pub async fn operator(&self) -> Client {
        let (scopes, bindings) = ([Scope::Operator].into_iter().collect(), Bindings::default());
        let new = NewKey { name: "o".to_owned(), scopes, expires_at: None, bindings };
        let key = create_key(&self.app.db, &self.app.clock, &self.app.ids, OPERATOR_NETWORK, new).await.unwrap();
        self.with_key(&key.text)
    }

    /// A caller with this key.
    pub fn with_key(&self, key: &str) -> Client {
        Client::new(self.http.clone(), self.url(), Some(key.to_owned()))
    }

    /// A caller without a key.
    pub fn anonymous(&self) -> Client {
        Client::new(self.http.clone(), self.url(), None)
    }

    /// A connection to the hub's own PostgreSQL.
    pub async fn database(&self) -> PgConnection {
        PgConnection::connect(self.settings.database.as_deref().expect("a hub on PostgreSQL")).await.unwrap()
    }

    pub fn backend(&self) -> &Backend {
        &self.backend
    }

    /// Its data folder.
    pub fn data(&self) -> &Path {
        self.backend.data()
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn advance_ms(&self, millis: u64) {
        self.clock.advance(Duration::from_millis(millis));
    }
}

/// All files under a folder.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return vec![] };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Bytes as two digits each, in lower case.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}
