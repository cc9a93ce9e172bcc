//! Networks exported to files and imported into either database, identical to the byte.

mod cells;
mod deleted;
mod interrupted;
mod moves;
mod refused;
pub mod sample;
mod tables;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use hub::app::App;
use hub::archive::{self, ImportOptions};
use hub::components::tables;
use hub::ids::Ids;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{Backend, Client, Hub, text};

/// `hub admin network …` on a database.
fn command(backend: &Backend, arguments: &[&str]) -> Command {
    crate::support::command(backend, &of_network(arguments))
}

fn run(backend: &Backend, arguments: &[&str]) -> Output {
    crate::support::run(backend, &of_network(arguments))
}

#[track_caller]
fn succeed(backend: &Backend, arguments: &[&str]) -> String {
    crate::support::succeed(backend, &of_network(arguments))
}

#[track_caller]
fn fail(backend: &Backend, arguments: &[&str]) -> String {
    crate::support::fail(backend, &of_network(arguments))
}

fn of_network<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [&["admin", "network"], arguments].concat()
}

fn export(backend: &Backend, network: &str, out: &Path) {
    succeed(backend, &["export", network, "--out", text(out)]);
}

/// Imports as the command does, in this process, which takes less time than starting one. Returns the error.
fn import_here(app: &App, file: &Path) -> Result<(), String> {
    let options = ImportOptions { from: file, plan: "default", allow_operator: false };
    let importing = archive::import(&app.settings, &app.db, &app.module_store, tables(), &Ids::System, options);
    let importing = hub_db::without_time_limit(Box::pin(importing));
    let imported = tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(importing));
    imported.map(drop).map_err(|error| format!("{error:#}"))
}

/// The members of an archive, by their names.
fn members(archive: &Path) -> Vec<(String, Vec<u8>)> {
    let mut archive = tar::Archive::new(File::open(archive).unwrap());
    let read = |entry: std::io::Result<tar::Entry<'_, File>>| {
        let mut entry = entry.unwrap();
        let mut bytes = vec![];
        entry.read_to_end(&mut bytes).unwrap();
        (entry.path().unwrap().to_str().unwrap().to_owned(), bytes)
    };
    archive.entries().unwrap().map(read).collect()
}

/// Number of rows of each table in an archive.
fn counts(archive: &Path) -> BTreeMap<String, u64> {
    let (_, summary) = members(archive).into_iter().find(|(name, _)| name == "summary.json").unwrap();
    let summary: Value = serde_json::from_slice(&summary).unwrap();
    let parts = summary["tables"].as_array().unwrap().iter().chain([&summary["files"]]);
    parts.map(|part| (part["name"].as_str().unwrap().to_owned(), part["count"].as_u64().unwrap())).collect()
}

async fn there_and_back(from: Backend, to: Backend) {
    let folder = TempDir::new().unwrap();
    let file = |name: &str| -> PathBuf { folder.path().join(name) };
    let first = Hub::start(from.clone()).await;
    let owner = first.network().await;
    let network = owner.network.unwrap().to_string();
    let expected = sample::fill(&first, &owner).await;
    // Another network, whose rows stay where they are.
    sample::fill(&first, &first.network().await).await;
    let answers = sample::answers(&owner).await;
    first.stop().await;

    export(&from, &network, &file("first"));
    assert_eq!(file("first").metadata().unwrap().permissions().mode() & 0o777, 0o600, "it holds secrets");
    for (table, count) in counts(&file("first")) {
        // The waitlist is the operator's; indexes are complete, and jobs done, in a moment.
        let is_empty = table.starts_with("waitlist") || ["collection_index_builds", "jobs"].contains(&table.as_str());
        assert!(count > 0 || is_empty, "no rows of {table}");
    }
    export(&from, &network, &file("again"));
    assert!(std::fs::read(file("first")).unwrap() == std::fs::read(file("again")).unwrap(), "two exports differ");

    // Into a running hub.
    let second = Hub::start(to.clone()).await;
    let owner = second.with_key(owner.key.as_deref().unwrap()).for_network(owner.network.unwrap());
    owner.get("/api/manage/keys").await.expect_error(401, "unauthenticated");
    let other = second.network().await;
    sample::fill(&second, &other).await;
    succeed(&to, &["import", text(&file("first"))]);
    export(&to, &network, &file("second"));
    assert!(std::fs::read(file("first")).unwrap() == std::fs::read(file("second")).unwrap(), "the import changed it");
    assert_eq!(sample::answers(&owner).await, answers);
    assert_eq!(fail(&to, &["import", text(&file("first"))]), format!("hub: the network {network} already exists\n"));

    // And back.
    let third = Backend::like(&from).await;
    let hub = Hub::start(third.clone()).await;
    succeed(&third, &["import", text(&file("second"))]);
    export(&third, &network, &file("third"));
    assert!(
        std::fs::read(file("first")).unwrap() == std::fs::read(file("third")).unwrap(),
        "the second import changed it"
    );
    let back = hub.with_key(owner.key.as_deref().unwrap()).for_network(owner.network.unwrap());
    assert_eq!(sample::answers(&back).await, answers);
    for (hub, owner) in [(&second, &owner), (&hub, &back)] {
        sample::check_continues(hub, owner, &expected).await;
    }
    let history = |client: Client| async move {
        client.get("/api/plugin/punishments/player/069a79f4-44e9-4726-a5be-000000000001/history").await
    };
    let untouched = history(other).await;
    assert_eq!(untouched.expect(200).as_array().unwrap().len(), 1, "another network was changed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn from_sqlite_to_postgres_and_back() {
    there_and_back(Backend::sqlite(), Backend::postgres_in_english().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn from_sqlite_to_a_pooled_postgres_and_back() {
    there_and_back(Backend::sqlite(), Backend::pgbouncer().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn from_postgres_to_sqlite_and_back() {
    there_and_back(Backend::postgres().await, Backend::sqlite()).await;
}

/// Between two hubs on one data folder, files stay where they are.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_hubs_may_share_their_data_folder() {
    let from = Backend::sqlite();
    let to = from.with_postgres().await;
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("network");
    let hub = Hub::start(from.clone()).await;
    let owner = hub.network().await;
    sample::fill(&hub, &owner).await;
    let from = hub.stop().await;
    let network = owner.network.unwrap().to_string();
    export(&from, &network, &file);
    succeed(&to, &["import", text(&file)]);
    export(&to, &network, &folder.path().join("second"));
    export(&from, &network, &folder.path().join("again"));
    let bytes = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    assert!(bytes("network") == bytes("second") && bytes("network") == bytes("again"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_suspended_network_is_refused_until_it_resumes() {
    for backend in [Backend::sqlite(), Backend::postgres().await] {
        let hub = Hub::start(backend.clone()).await;
        let owner = hub.network().await;
        let network = owner.network.unwrap().to_string();
        owner.get("/api/manage/keys").await.expect(200);
        succeed(&backend, &["suspend", &network]);
        until(&owner, 403).await;
        succeed(&backend, &["resume", &network]);
        until(&owner, 200).await;
        assert!(fail(&backend, &["suspend", "nobody"]).contains("No network `nobody`"));
    }
}

/// Waits until a change in the database is in effect, which takes half a second.
async fn until(owner: &Client, status: u16) {
    for _ in 0..500 {
        if owner.get("/api/manage/keys").await.status == status {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("never {status}");
}
