//! Child processes that read the files: confined, limited, and gone as soon as their import is.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use hub_sandbox::confined::ProcessLimits;
use reqwest::Body;
use serde_json::{Value, json};

use super::{BALANCES, IMPORTS, files, finished, import, upload};
use crate::cli::Installation;
use crate::support::{Backend, Client, Hub, on_both, on_each};

/// A dump that takes minutes to read: a gibibyte of comments, packed in members of a mebibyte.
fn endless() -> Vec<u8> {
    files::gzip("-- nothing\n".repeat(95_000).as_bytes()).repeat(1_000)
}

/// Processes that read files of the hub with this data folder.
fn readers(data: &Path) -> Vec<PathBuf> {
    let folder = fs::canonicalize(data).unwrap().join("imports");
    let reads = |process: &PathBuf| {
        let command = fs::read(process.join("cmdline")).unwrap_or_default();
        let files = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
        let mut files = files.filter_map(|file| fs::read_link(file.path()).ok());
        command.ends_with(b"read-import\0") && files.any(|file| file.starts_with(&folder))
    };
    fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path()).filter(reads).collect()
}

/// Line of a process's status.
fn status(process: &Path, name: &str) -> String {
    let status = fs::read_to_string(process.join("status")).unwrap_or_default();
    status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().trim().to_owned()
}

async fn start(client: &Client, query: &str, file: impl Into<Body>) -> String {
    let made = upload(client, query, file).await.expect(201).clone();
    made["importId"].as_str().unwrap().to_owned()
}

on_both! {
    async fn a_cancellation_ends_the_confined_reader(hub: Hub) {
        let owner = hub.network().await;
        let id = start(&owner, "kind=litebans", endless()).await;
        let confined = |process: &PathBuf| (status(process, "Seccomp:"), status(process, "NoNewPrivs:"));
        Hub::eventually("its reader is confined", async || {
            readers(hub.data()).iter().map(confined).eq([("2".to_owned(), "1".to_owned())])
        })
        .await;
        for process in readers(hub.data()) {
            let read = |name: &str| fs::read_to_string(process.join(name)).unwrap();
            // Nothing of the hub's environment, which may hold secrets.
            let environment = read("environ");
            let names: Vec<_> = environment.split_terminator('\0').filter_map(|it| Some(it.split_once('=')?.0)).collect();
            assert_eq!(names, ["MALLOC_ARENA_MAX", "MIMALLOC_ARENA_RESERVE"]);
            let limits = read("limits");
            let limit = |name: &str| limits.lines().find_map(|it| it.strip_prefix(name)?.split_whitespace().next()).unwrap();
            assert_eq!((limit("Max cpu time"), limit("Max file size")), ("240", "0"));
            assert!(limit("Max address space").parse::<u64>().unwrap() >= 256 << 20);
            // The lowest priority: the third field after the name's parenthesis is the state's, the 17th the niceness.
            let stat = read("stat");
            assert_eq!(stat.rsplit_once(')').unwrap().1.split_whitespace().nth(16), Some("19"), "{stat}");
        }
        let cancelled = owner.post(&format!("{IMPORTS}/{id}/cancel"), json!({})).await.expect(200).clone();
        assert_eq!(cancelled["state"], "CANCELLED");
        Hub::eventually("its reader is gone", async || readers(hub.data()).is_empty()).await;
        assert_eq!(import(&owner, BALANCES, files::balances(3)).await["state"], "DONE");
    }
}

/// Imports a file under limits that it exceeds, and another network's meanwhile.
async fn import_over(backend: Backend, limits: ProcessLimits, query: &str, file: Vec<u8>) -> Value {
    let hub = Hub::start_with(backend, |settings| settings.imports.limits = Some(limits)).await;
    let (owner, other) = (hub.network().await, hub.network().await);
    let id = start(&owner, query, file).await;
    let done = import(&other, BALANCES, files::balances(100)).await;
    assert_eq!((&done["state"], &done["done"]), (&json!("DONE"), &json!(100)), "{done}");
    let failed = finished(&owner, &id).await;
    assert_eq!((&failed["state"], &failed["done"]), (&json!("FAILED"), &json!(0)), "{failed}");
    assert_eq!(readers(hub.data()), Vec::<PathBuf>::new());
    // The network is free for another.
    assert_eq!(import(&owner, BALANCES, files::balances(3)).await["state"], "DONE");
    failed
}

async fn a_reader_over_its_memory_fails_its_import_alone(backend: Backend) {
    let entry = |at| json!({"uuid": files::player(at), "name": format!("player{at}")});
    let list = Value::Array((0..120_000).map(entry).collect()).to_string();
    let limits = ProcessLimits { memory_bytes: 8 << 20, cpu_seconds: 240 };
    let failed = import_over(backend, limits, "kind=vanilla", list.into_bytes()).await;
    assert_eq!(failed["error"]["message"], "Reading the file took more than 8 MiB of memory.", "{failed}");
}

async fn a_reader_over_its_processor_time_fails_its_import_alone(backend: Backend) {
    let limits = ProcessLimits { memory_bytes: 256 << 20, cpu_seconds: 1 };
    let failed = import_over(backend, limits, "kind=litebans", endless()).await;
    let message = failed["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("Reading the file took more than 1 s of processor time"), "{failed}");
}

/// A reader that was taken over by its file may say anything.
async fn a_reader_that_answers_wrongly_fails_its_import(backend: Backend) {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("reader");
    // Four gibibytes are announced; then it waits for its end.
    fs::write(&script, "#!/bin/sh\nprintf '\\377\\377\\377\\377'\nwhile read -r line; do :; done\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o700)).unwrap();
    let hub = Hub::start_with(backend, |settings| settings.imports.reader = Some(script)).await;
    let owner = hub.network().await;
    let id = start(&owner, BALANCES, files::balances(3)).await;
    Hub::eventually("it fails", async || {
        // A process that another test has just forked may still have the script open.
        hub.advance_ms(2_000);
        owner.get(&format!("{IMPORTS}/{id}")).await.expect(200)["state"] == "FAILED"
    })
    .await;
    let failed = finished(&owner, &id).await;
    assert!(failed["error"]["message"].as_str().unwrap().contains("its operator"), "{failed}");
}

async fn a_killed_hub_leaves_no_reader(backend: Backend) {
    let installation = Installation::new(backend);
    let key =
        installation.json(&["admin", "network", "create", "mine", "--json"])["apiKey"].as_str().unwrap().to_owned();
    let mut hub = installation.serve();
    start(&hub.client(&key), "kind=litebans", endless()).await;
    let data = installation.settings.data.clone();
    Hub::eventually("it is read", async || !readers(&data).is_empty()).await;
    hub.signal("-KILL");
    hub.child.wait().unwrap();
    Hub::eventually("its reader is gone", async || readers(&data).is_empty()).await;
}

/// Peak of a process's own memory, in KiB.
fn peak(process: u32) -> u64 {
    status(Path::new(&format!("/proc/{process}")), "VmHWM:").trim_end_matches(" kB").parse().unwrap()
}

async fn a_large_file_takes_no_memory_of_the_hub(backend: Backend) {
    const SIZE: usize = 64 << 20;
    let installation = Installation::new(backend);
    let key =
        installation.json(&["admin", "network", "create", "mine", "--json"])["apiKey"].as_str().unwrap().to_owned();
    let hub = installation.serve();
    let client = hub.client(&key);
    let row = "-- nothing\n";
    let file = |size: usize| row.repeat(size / row.len()) + "CREATE TABLE litebans_bans (id int);\n";
    let small = import(&client, "kind=litebans", file(1 << 20)).await;
    let before = peak(hub.child.id());
    let large = import(&client, "kind=litebans", file(SIZE)).await;
    assert_eq!((&small["state"], &large["error"]), (&json!("FAILED"), &small["error"]), "{large}");
    let grown = (peak(hub.child.id()) - before) << 10;
    assert!(grown < SIZE as u64 / 4, "{} MiB", grown >> 20);
}

on_each! {
    a_reader_over_its_memory_fails_its_import_alone a_reader_over_its_processor_time_fails_its_import_alone
    a_reader_that_answers_wrongly_fails_its_import a_killed_hub_leaves_no_reader a_large_file_takes_no_memory_of_the_hub
}
