//! `hub admin network move …`: moves a network to another hub, beside both databases.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use hub_db::Db;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use tokio::time::Instant;

use crate::archive::{self, ImportOptions, Report};
use crate::auth::Origin;
use crate::auth::moves::{ARRIVING, LEFT};
use crate::cli::{connect, progress};
use crate::clock::Clock;
use crate::components::tables;
use crate::config::{Settings, StorageArgs};
use crate::data_folder;
use crate::http_client;
use crate::identity;
use crate::ids::Ids;
use crate::modules::open_store;
use crate::network_moves::{IDENTITY, live_nodes};
use crate::networks::admin;
use crate::networks::moves::{self, MoveRow};
use crate::networks::service::{self, NetworksError};
use crate::values::{NetworkId, hex};

const POLL_INTERVAL: Duration = Duration::from_millis(25);
/// Time for all nodes to end what they have of the network under way.
const STILL_WITHIN: Duration = Duration::from_secs(30);
/// A hub that serves and has said nothing for so long is none that looks at this database.
const HEARD_WITHIN: Duration = Duration::from_secs(3);
const TAKEN_OVER: &str = "the move was cancelled, or another command goes on with it";
const READY_WITHIN: Duration = Duration::from_secs(5);

#[derive(Args, Debug)]
pub(super) struct Move {
    /// Network id or name
    network: String,
    /// Address of the other hub, to which this one forwards the network's requests from then on
    #[arg(long, value_name = "URL", required_unless_present = "cancel")]
    to: Option<String>,
    /// The other hub's data folder
    #[arg(long, value_name = "DIR", required_unless_present_any = ["to_database", "cancel"])]
    to_data: Option<PathBuf>,
    /// The other hub's PostgreSQL URL
    #[arg(long, value_name = "URL")]
    to_database: Option<String>,
    /// The other hub's blob store [default: `blobs` in its data folder]
    #[arg(long, value_name = "DIR|URL")]
    to_blobs: Option<String>,
    /// The other hub's secrets key [default: `secrets.key` in its data folder]
    #[arg(long, value_name = "FILE")]
    to_secrets_key: Option<PathBuf>,
    /// Serve the network here again after a move that was interrupted, and with the other hub's storage remove what has
    /// arrived there; no longer possible once it has left
    #[arg(long, conflicts_with = "to")]
    cancel: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    storage: StorageArgs,
}

#[derive(Args, Debug)]
pub(super) struct ForgetMove {
    /// Network id or name
    network: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    storage: StorageArgs,
}

/// A hub's storage.
struct Hub {
    settings: Settings,
    db: Db,
    module_store: Db,
}

impl Hub {
    async fn open(settings: Settings) -> anyhow::Result<Self> {
        data_folder::require_hub(&settings)?;
        data_folder::require_blobs(&settings)?;
        let db = connect(&settings).await?;
        let module_store = open_store(&settings, &db).await?;
        Ok(Self { settings, db, module_store })
    }

    /// Folder for a network's files on their way.
    fn folder_of(&self, network: NetworkId) -> PathBuf {
        self.settings.data.join(format!("moving-{network}"))
    }

    async fn close(self) {
        self.module_store.close().await;
        self.db.close().await;
    }

    async fn export(&self, network: NetworkId, out: &Path) -> anyhow::Result<(Report, String)> {
        let exported = archive::export(&self.settings, &self.db, &self.module_store, tables(), network, out);
        let report = progress::with_bytes("written:", exported).await?;
        Ok((report, sha256(out)?))
    }

    async fn import(&self, from: &Path, plan: &str) -> anyhow::Result<Report> {
        let options = ImportOptions { from, plan, allow_operator: false };
        let Self { settings, db, module_store } = self;
        let importing = archive::import(settings, db, module_store, tables(), &Ids::System, options);
        progress::with_bytes("read:", hub_db::without_time_limit(Box::pin(importing))).await
    }

    /// Removes the rows of a network that has not arrived.
    async fn discard(&self, network: NetworkId, of: &MoveRow) -> anyhow::Result<()> {
        if moves::unexpect(&self.db, network, &of.move_id).await? {
            let Self { settings, db, module_store } = self;
            archive::discard(settings, db, module_store, tables(), &Ids::System, network).await?;
        }
        Ok(())
    }

    /// Ends an arrival that failed. Clients that know this hub from an earlier stay are not told that their keys are unknown.
    async fn give_up(&self, network: NetworkId, of: &MoveRow, before: Option<&MoveRow>) -> anyhow::Result<()> {
        match before {
            Some(before) => Ok(moves::reinstate(&self.db, &origin(), network, of, before).await?),
            None => self.discard(network, of).await,
        }
    }

    /// Waits until each node of this hub has dealt with the move.
    async fn until_still(&self, network: NetworkId, of: &MoveRow) -> anyhow::Result<()> {
        let began = Instant::now();
        loop {
            let nodes = live_nodes(&self.db, network, &of.move_id).await?;
            ensure!(nodes.is_under_way, TAKEN_OVER);
            let is_served = self.settings.database.is_none() && data_folder::serving_address(&self.settings)?.is_some();
            let is_heard = nodes.still > 0 || (!is_served && began.elapsed() > HEARD_WITHIN);
            if nodes.missing == 0 && is_heard {
                return Ok(());
            }
            ensure!(began.elapsed() < STILL_WITHIN, "the hub still has requests of the network under way");
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }
}

fn remove_folder(folder: &Path) {
    if let Err(error) = fs::remove_dir_all(folder)
        && error.kind() != io::ErrorKind::NotFound
    {
        eprintln!("could not remove {}, which holds the network's secrets: {error}", folder.display());
    }
}

fn sha256(file: &Path) -> io::Result<String> {
    let mut file = BufReader::with_capacity(1 << 20, File::open(file)?);
    let mut hash = Sha256::new();
    loop {
        let read = file.fill_buf()?;
        if read.is_empty() {
            return Ok(hex(&hash.finalize()));
        }
        hash.update(read);
        let length = read.len();
        file.consume(length);
    }
}

fn origin() -> Origin {
    Origin::command_line(&Clock::System, &Ids::System)
}

/// The result of a move.
struct Moved {
    report: Option<Report>,
    sha256: Option<String>,
    /// Time during which no hub served the network; unknown for a move that was only completed.
    frozen: Option<Duration>,
}

impl Move {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let source = Hub::open(Settings::of_storage(&self.storage)?).await?;
        let done = self.at(&source).await;
        source.close().await;
        done
    }

    async fn at(&self, source: &Hub) -> anyhow::Result<()> {
        let network = service::resolve_network(&source.db, &self.network).await?;
        if self.cancel {
            return self.cancel(source, network).await;
        }
        let url = self.url()?;
        let target = Hub::open(self.target()?).await?;
        let moved = Self::between(source, &target, network, &url).await;
        target.close().await;
        let Moved { report, sha256, frozen } = moved?;
        let frozen_ms = frozen.map(|it| u64::try_from(it.as_millis()).unwrap_or(u64::MAX));
        let (rows, files) = report.map(|it| (it.rows, it.files)).unzip();
        let json = json!({
            "networkId": network, "to": url, "rows": rows, "files": files, "sha256": sha256, "frozenMs": frozen_ms,
        });
        let after = frozen_ms.map_or_else(String::new, |ms| format!(" after {ms} ms"));
        self.print(&json, &format!("{network} is served at {url}{after}; this hub forwards its requests"));
        Ok(())
    }

    async fn cancel(&self, source: &Hub, network: NetworkId) -> anyhow::Result<()> {
        let of = moves::cancel(&source.db, network, None).await?;
        let of =
            of.with_context(|| format!("no move of {network} can be cancelled: none is under way, or it has left"))?;
        self.print(&json!({"networkId": network}), &format!("{network} is served here again"));
        // Of a command that was killed.
        remove_folder(&source.folder_of(network));
        if self.to_data.is_some() || self.to_database.is_some() {
            let target = Hub::open(self.target()?).await?;
            let discarded = target.discard(network, &of).await;
            target.close().await;
            discarded?;
        }
        Ok(())
    }

    /// The address, without a path: a hub has the root of its address.
    fn url(&self) -> anyhow::Result<String> {
        let text = self.to.as_deref().unwrap_or_default();
        let url: reqwest::Url = text.parse().with_context(|| format!("--to {text}"))?;
        let is_plain = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
        let has_user = !url.username().is_empty() || url.password().is_some();
        ensure!(
            ["http", "https"].contains(&url.scheme()) && is_plain && !has_user,
            "--to must be an address such as https://hub-2.example.com"
        );
        Ok(url.as_str().trim_end_matches('/').to_owned())
    }

    /// Storage of the other hub, by its own options alone: those of the environment are this hub's.
    fn target(&self) -> anyhow::Result<Settings> {
        let mut settings = Settings::of_storage(&StorageArgs { data: self.to_data.clone(), ..StorageArgs::default() })?;
        if let Some(data) = &self.to_data {
            settings.data.clone_from(data);
        }
        settings.database.clone_from(&self.to_database);
        settings.blobs.clone_from(&self.to_blobs);
        settings.secrets_key.clone_from(&self.to_secrets_key);
        Ok(settings)
    }

    async fn between(source: &Hub, target: &Hub, network: NetworkId, url: &str) -> anyhow::Result<Moved> {
        let [from, to] = [identity::find_id(&source.db).await?, identity::find_id(&target.db).await?];
        ensure!(from.is_some() && to.is_some() && from != to, "both are the same hub, or one has never been started");
        // Of the same name there; the operator may put it on another one afterwards.
        let row = admin::network(&source.db, network).await?;
        let is_left = moves::find(&source.db, network).await?.is_some_and(|row| row.state == LEFT);
        if !is_left {
            moves::check_arrival(&target.db, network).await?;
            archive::check_plan(&target.db, &row.plan).await?;
            check_name(&target.db, network, &row.name).await?;
        }
        check_address(url, &to.unwrap_or_default()).await?;
        let began = Instant::now();
        let of = moves::begin(&source.db, &origin(), network, url).await?;
        if of.state == LEFT {
            let arrived = moves::arrive(&target.db, network, &of).await;
            arrived.with_context(|| format!("it has left for the hub at {}; this one does not have it", of.url))?;
            // The address may be another one now, or that of a hub to which it moved on.
            let of = MoveRow { url: url.to_owned(), ..of };
            moves::readdress(&source.db, &origin(), network, &of).await?;
            return Ok(Moved { report: None, sha256: None, frozen: None });
        }
        let folder = source.folder_of(network);
        let mut before = None;
        let moved = Self::transfer(source, target, network, (&of, &mut before), &row.plan, &folder).await;
        remove_folder(&folder);
        match moved {
            Ok((report, sha256)) => {
                moves::arrive(&target.db, network, &of)
                    .await
                    .context("it has left, and the other hub does not serve it yet; run the same command again")?;
                Ok(Moved { report: Some(report), sha256: Some(sha256), frozen: Some(began.elapsed()) })
            }
            Err(error) => {
                // First here: a hub that does not answer must not keep the network from being served.
                if moves::cancel(&source.db, network, Some(&of.move_id)).await?.is_some() {
                    eprintln!("{network} is served here again");
                }
                if let Err(error) = target.give_up(network, &of, before.as_ref()).await {
                    eprintln!("could not remove what has arrived of it; another move does: {error:#}");
                }
                Err(error)
            }
        }
    }

    /// Copies the frozen network, and lets it leave this hub.
    async fn transfer(
        source: &Hub,
        target: &Hub,
        network: NetworkId,
        (of, before): (&MoveRow, &mut Option<MoveRow>),
        plan: &str,
        folder: &Path,
    ) -> anyhow::Result<(Report, String)> {
        // Of a move that was killed.
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        fs::create_dir_all(folder)?;
        *before = moves::expect(&target.db, &origin(), network, of).await?;
        // There, they have also forgotten what an earlier stay of the network has left in memory.
        tokio::try_join!(source.until_still(network, of), target.until_still(network, of))?;
        let (_, sent) = source.export(network, &folder.join("sent.tar")).await?;
        ensure!(moves::clear(&target.db, network, of).await?, "another command moves it to the other hub");
        let report = target.import(&folder.join("sent.tar"), plan).await?;
        let (_, arrived) = target.export(network, &folder.join("arrived.tar")).await?;
        ensure!(sent == arrived, "what has arrived is not what was sent: {arrived} instead of {sent}");
        if !moves::leave(&source.db, &origin(), network, of).await? {
            bail!(TAKEN_OVER);
        }
        Ok((report, sent))
    }

    fn print(&self, json: &serde_json::Value, text: &str) {
        if self.json {
            print_json!(json);
        } else {
            println!("{text}");
        }
    }
}

/// Fails if another network has the name there.
async fn check_name(db: &Db, network: NetworkId, name: &str) -> anyhow::Result<()> {
    match service::resolve_network(db, name).await {
        Ok(other) => ensure!(other == network, "another network there, {other}, has the name `{name}`"),
        Err(NetworksError::NoSuchName(_)) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

/// Fails unless this hub is ready at the address: requests of the network will be sent to it for good.
async fn check_address(url: &str, id: &str) -> anyhow::Result<()> {
    let client = http_client::builder()?.timeout(READY_WITHIN).build()?;
    let answer = client.get(format!("{url}/readyz")).header(&IDENTITY, id).send().await;
    let answer = answer.map_err(|error| anyhow::anyhow!("no hub at {url}: {}", http_client::with_causes(&error)))?;
    ensure!(answer.status().is_success(), "the hub at {url} is not ready: {}", answer.status());
    let is_this = answer.headers().get(&IDENTITY).is_some_and(|answered| answered == id);
    ensure!(is_this, "{url} is not the address of the hub with that storage");
    Ok(())
}

impl ForgetMove {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let source = Hub::open(Settings::of_storage(&self.storage)?).await?;
        let forgotten = async {
            let network = service::resolve_network(&source.db, &self.network).await?;
            // Of a move that was killed, or cancelled where only the other hub's storage was at hand.
            if let Some(row) = moves::find(&source.db, network).await?.filter(|row| row.state == ARRIVING) {
                source.discard(network, &row).await?;
                return anyhow::Ok((network, None));
            }
            let url = moves::forget(&source.db, network).await?;
            let url = url.with_context(|| format!("{network} has not moved from here"))?;
            Ok((network, Some(url)))
        };
        let forgotten = forgotten.await;
        source.close().await;
        let (network, url) = forgotten?;
        match url {
            _ if self.json => print_json!(json!({"networkId": network, "movedTo": url})),
            Some(url) => println!("{network} is no longer forwarded to {url}; it stays suspended here"),
            None => println!("what had arrived of {network} is removed"),
        }
        Ok(())
    }
}
