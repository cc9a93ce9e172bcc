//! Settings: the command line over the environment over the config file over the defaults.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use figment::Figment;
use figment::providers::{Env, Format as _, Serialized, Toml};
use serde::{Deserialize, Serialize};

use crate::modules::ModuleSettings;
use crate::worlds::SnapshotSettings;

/// Options that say where the truth is kept. Every option is also an environment variable (`HUB_DATA` …) and a line
/// of the config file.
#[derive(Args, Clone, Debug, Default, Serialize)]
pub struct StorageArgs {
    /// Folder for everything the hub keeps on disk [default: hub-data]
    #[arg(long, value_name = "DIR")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<PathBuf>,
    /// PostgreSQL to use instead of the embedded SQLite, as `postgres://user:password@host/database`
    #[arg(long, value_name = "URL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub database: Option<String>,
    /// Config file (TOML; one line per option, such as `listen = "0.0.0.0:8080"`)
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    pub config: Option<PathBuf>,
}

/// Options of a hub that serves.
#[derive(Args, Clone, Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct ServeArgs {
    /// Where the truth is kept.
    #[command(flatten)]
    #[serde(flatten)]
    pub storage: StorageArgs,
    /// Address to serve on [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDR")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listen: Option<SocketAddr>,
    /// GeoIP database in MaxMind's format (any GeoLite2 or DB-IP Country or City file)
    #[arg(long, value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub geoip: Option<PathBuf>,
    /// Whether regions count in routing [default: on]
    #[arg(long, value_name = "on|off")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub geo_routing: Option<Switch>,
    /// Engine identifiers servers may have [default: MINECRAFT,HYTALE]
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engines: Option<Vec<String>>,
    /// Time after its last heartbeat at which a server is offline, in milliseconds [default: 30000]
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offline_after: Option<u64>,
    /// How long a world's lease lasts from each heartbeat of its node, in milliseconds [default: 60000]
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease: Option<u64>,
    /// S3-compatible store for snapshots of worlds, as `s3://KEY:SECRET@HOST/BUCKET?region=R` [default: the data folder]
    #[arg(long, value_name = "URL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshots: Option<String>,
    /// How the hub is reached from outside, for links it hands out [default: as the caller addressed it]
    #[arg(long, value_name = "URL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public_url: Option<String>,
}

/// `on` or `off`.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Switch {
    /// Yes.
    On,
    /// No.
    Off,
}

/// What a hub runs with.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Settings {
    /// Folder for everything the hub keeps on disk.
    pub data: PathBuf,
    /// PostgreSQL's URL; absent: SQLite in the data folder.
    pub database: Option<String>,
    /// Address to serve on.
    pub listen: SocketAddr,
    /// GeoIP database.
    pub geoip: Option<PathBuf>,
    /// Whether regions count in routing.
    pub geo_routing: Switch,
    /// Engine identifiers servers may have.
    #[serde(deserialize_with = "list")]
    pub engines: Vec<String>,
    /// Milliseconds after its last heartbeat at which a server is offline.
    pub offline_after: u64,
    /// Milliseconds a world's lease lasts from each heartbeat of its node.
    pub lease: u64,
    /// S3-compatible store for snapshots of worlds; absent: the data folder.
    pub snapshots: Option<String>,
    /// How the hub is reached from outside; absent: as each caller addressed it.
    pub public_url: Option<String>,
    /// Not for users.
    #[serde(skip)]
    pub snapshot_settings: SnapshotSettings,
    /// Not for users.
    #[serde(skip)]
    pub modules: ModuleSettings,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            data: PathBuf::from("hub-data"),
            database: None,
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            geoip: None,
            geo_routing: Switch::On,
            engines: vec!["MINECRAFT".to_owned(), "HYTALE".to_owned()],
            offline_after: 30_000,
            lease: 60_000,
            snapshots: None,
            public_url: None,
            snapshot_settings: SnapshotSettings::default(),
            modules: ModuleSettings::default(),
        }
    }
}

impl Settings {
    /// The settings of a hub that serves.
    pub fn of_serve(args: &ServeArgs) -> anyhow::Result<Self> {
        Self::merge(args.storage.config.as_ref(), args)
    }

    /// The settings of a command that works on the database.
    pub fn of_storage(args: &StorageArgs) -> anyhow::Result<Self> {
        Self::merge(args.config.as_ref(), args)
    }

    fn merge(config: Option<&PathBuf>, args: impl Serialize) -> anyhow::Result<Self> {
        let mut figment = Figment::from(Serialized::defaults(Self::default()));
        if let Some(file) = config {
            anyhow::ensure!(file.is_file(), "the config file {} does not exist", file.display());
            figment = figment.merge(Toml::file_exact(file));
        }
        let known = [
            "data",
            "database",
            "listen",
            "geoip",
            "geo_routing",
            "engines",
            "offline_after",
            "lease",
            "snapshots",
            "public_url",
        ];
        let environment = Env::prefixed("HUB_").only(&known).map(|key| key.as_str().replace('_', "-").into());
        Ok(figment.merge(environment).merge(Serialized::defaults(args)).extract()?)
    }

    /// Where the database is.
    pub fn database(&self) -> hub_db::Config {
        match &self.database {
            Some(url) => hub_db::Config::Postgres { url: url.clone(), max_connections: 20 },
            None => hub_db::Config::Sqlite { path: self.data.join("hub.db") },
        }
    }

    /// Time after its last heartbeat at which a server is offline.
    pub fn offline_after(&self) -> Duration {
        Duration::from_millis(self.offline_after)
    }

    /// How long a world's lease lasts from each heartbeat of its node.
    pub fn lease(&self) -> Duration {
        Duration::from_millis(self.lease)
    }
}

/// A list as TOML writes it, or as one comma-separated text of the environment.
fn list<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum List {
        Text(String),
        Items(Vec<String>),
    }
    Ok(match List::deserialize(deserializer)? {
        List::Text(text) => text.split(',').map(|item| item.trim().to_owned()).collect(),
        List::Items(items) => items,
    })
}
