//! Files that are damaged, of another version or forged.

use std::fs::File;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use super::{counts, export, fail, import_here, members, sample, succeed, text};
use crate::support::{Backend, Client, Hub, hex, on_each};

pub(super) type Members = Vec<(String, Vec<u8>)>;

/// Writes an archive with a summary that matches its members.
pub(super) fn seal(members: &Members, to: &Path) {
    let mut members = members.clone();
    let (_, last) = members.last_mut().unwrap();
    let mut summary: Value = serde_json::from_slice(last).unwrap();
    for part in summary["tables"].as_array_mut().unwrap() {
        let begin = format!("tables/{}/", part["name"].as_str().unwrap());
        let all: Vec<u8> = members_of(&members, &begin).flat_map(|(_, bytes)| bytes.clone()).collect();
        part["count"] = json!(all.split(|byte| *byte == b'\n').count() - 1);
        part["sha256"] = json!(hex(&Sha256::digest(&all)));
    }
    let files: Vec<String> = members_of(&members, "files/")
        .map(|(name, bytes)| format!("{name} {}\n", hex(&Sha256::digest(bytes))))
        .collect();
    let files = files.concat();
    summary["files"]["count"] = json!(files.lines().count());
    summary["files"]["sha256"] = json!(hex(&Sha256::digest(&files)));
    let last = members.last_mut().unwrap();
    last.1 = serde_json::to_vec(&summary).unwrap();
    write(&members, to);
}

fn members_of<'m>(members: &'m Members, begin: &str) -> impl Iterator<Item = &'m (String, Vec<u8>)> {
    members.iter().filter(move |(name, _)| name.starts_with(begin))
}

fn write(members: &Members, to: &Path) {
    let mut archive = tar::Builder::new(File::create(to).unwrap());
    for (name, bytes) in members {
        let mut header = tar::Header::new_ustar();
        // Unchecked, because it may lead out of the folder.
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_size(bytes.len() as u64);
        header.set_cksum();
        archive.append(&header, &**bytes).unwrap();
    }
    archive.finish().unwrap();
}

/// An export that is forged, and the hub it is imported into.
struct Forgery {
    hub: Hub,
    to: Backend,
    owner: Client,
    other: Client,
    folder: TempDir,
    good: Members,
}

impl Forgery {
    async fn new(to: Backend) -> Self {
        let first = Hub::start(Backend::sqlite()).await;
        let owner = first.network().await;
        sample::fill(&first, &owner).await;
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("good");
        export(&first.stop().await, &owner.network.unwrap().to_string(), &file);
        let hub = Hub::start(to.clone()).await;
        let owner = hub.with_key(owner.key.as_deref().unwrap()).for_network(owner.network.unwrap());
        let other = hub.network().await;
        sample::fill(&hub, &other).await;
        Self { hub, to, owner, other, good: members(&file), folder }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("bad")
    }

    fn export_other(&self) -> Vec<u8> {
        let file = self.folder.path().join("other");
        export(&self.to, &self.other.network.unwrap().to_string(), &file);
        let bytes = std::fs::read(&file).unwrap();
        std::fs::remove_file(file).unwrap();
        bytes
    }

    /// The good file with one member changed, and a matching summary.
    fn with(&self, name: &str, change: impl FnOnce(&mut Vec<u8>)) -> Members {
        let mut members = self.good.clone();
        change(&mut members.iter_mut().find(|(member, _)| member.starts_with(name)).unwrap().1);
        members
    }

    /// The good file with every occurrence of a text replaced.
    fn replaced(&self, name: &str, from: &str, to: &str) -> Members {
        self.with(name, |bytes| {
            let text = String::from_utf8(bytes.clone()).unwrap();
            assert!(text.contains(from), "{from} is not in {text}");
            *bytes = text.replace(from, to).into_bytes();
        })
    }

    /// The good file with another network's id.
    fn with_network(&self, other: &str) -> Members {
        let network = self.owner.network.unwrap().to_string();
        let mut members = self.good.clone();
        for (name, bytes) in &mut members {
            *name = name.replace(&network, other);
            if let Ok(text) = std::str::from_utf8(bytes) {
                *bytes = text.replace(&network, other).into_bytes();
            }
        }
        members
    }

    fn import(&self) -> Result<(), String> {
        import_here(&self.hub.app, &self.file())
    }

    #[track_caller]
    fn refused(&self, members: &Members, reason: &str) {
        seal(members, &self.file());
        let message = self.import().unwrap_err();
        assert!(message.contains(reason), "not `{reason}`: {message}");
    }

    async fn nothing_was_imported(&self) {
        for (table, count) in rows(&self.hub, &self.owner).await {
            assert_eq!(count, 0, "{table} has rows");
        }
    }
}

/// Number of rows of the network in some tables, even if it does not exist.
async fn rows(hub: &Hub, owner: &Client) -> Vec<(String, i64)> {
    let network = owner.network.unwrap();
    hub.app
        .db
        .query(
            "SELECT 'networks', COUNT(*) FROM networks WHERE network_id = $1
             UNION ALL SELECT 'api_keys', COUNT(*) FROM api_keys WHERE network_id = $1
             UNION ALL SELECT 'players', COUNT(*) FROM players WHERE network_id = $1
             UNION ALL SELECT 'statistics', COUNT(*) FROM statistics WHERE network_id = $1
             UNION ALL SELECT 'idempotency_keys', COUNT(*) FROM idempotency_keys WHERE network_id = $1
             UNION ALL SELECT 'network_imports', COUNT(*) FROM network_imports WHERE network_id = $1",
        )
        .bind(network)
        .all()
        .await
        .unwrap()
}

async fn a_forged_file_is_refused(to: Backend) {
    let forgery = Forgery::new(to).await;
    let before = forgery.export_other();
    let network = forgery.owner.network.unwrap().to_string();
    let other = forgery.other.network.unwrap().to_string();
    let nil = "00000000-0000-0000-0000-000000000000";
    let manifest = |from: &str, to: &str| forgery.replaced("manifest", from, to);
    forgery.refused(&manifest("\"format\":1", "\"format\":2"), "format 2 of a newer hub");
    forgery.refused(&manifest("\"format\":1", "\"format\":0"), "this hub reads 1");
    forgery.refused(&manifest("\"schema\":", "\"schema\":9"), "a newer hub wrote it");
    forgery.refused(&manifest("\"schema\":", "\"schema\":-"), "an older hub wrote it");
    forgery.refused(&forgery.with_network(nil), "--operator");
    forgery.refused(&forgery.with_network(&other), "already exists");
    forgery.refused(&manifest("\"name\":\"", "\"name\":\"x"), "belongs to another network");

    // More than a network may have.
    forgery.refused(&forgery.replaced("tables/api_keys", "network:manage", "operator network:manage"), "`operator`");
    for (table, up) in [("artifacts", "../../hub.db"), ("provisioning_bundles", "../x"), ("artifacts", "/etc/passwd")] {
        let members = forgery.with(&format!("tables/{table}/"), |bytes| {
            let mut row: Value = serde_json::from_slice(bytes).unwrap();
            row[usize::from(table != "artifacts")] = json!(up);
            *bytes = serde_json::to_vec(&row).unwrap();
            bytes.push(b'\n');
        });
        forgery.refused(&members, "not a valid file name of the hub");
    }
    let snapshot = format!("\"{network}/1/1-1-");
    forgery.refused(
        &forgery.replaced("tables/world_blobs", &snapshot, &format!("\"{other}/1/1-1-")),
        "not a valid file name",
    );
    forgery.refused(
        &forgery.replaced("tables/world_blobs", &snapshot, &format!("\"{network}/../1-1-")),
        "not a valid file name",
    );
    let code = forgery.with("tables/module_code/", |bytes| {
        *bytes = format!("[\"chat-guard\",1,\"{}\",null]\n", STANDARD.encode("other code")).into_bytes();
    });
    forgery.refused(&code, "a wrong SHA-256");
    let inline = forgery.with("tables/module_code/", |bytes| {
        let text = String::from_utf8(bytes.clone()).unwrap();
        // Values that refer to a file, in its row, too.
        *bytes = text
            .replace("\"large-guard\",1,\"\"", &format!("\"large-guard\",1,\"{}\"", STANDARD.encode("more")))
            .into();
    });
    forgery.refused(&inline, "a wrong SHA-256");
    forgery.refused(&forgery.with("files/modules/", |bytes| bytes[7] ^= 1), "a wrong SHA-256");
    forgery.refused(&forgery.with("files/modules/", |bytes| bytes.truncate(9)), "bytes instead of");
    let sum = forgery.replaced("tables/modules/", "\"large-guard\",1,\"", "\"large-guard\",1,\"../");
    forgery.refused(&sum, "is not a SHA-256");

    // Parts that do not match.
    let mut moved = forgery.good.clone();
    moved.swap(2, 3);
    forgery.refused(&moved, "misplaced");
    let mut unknown = forgery.good.clone();
    unknown.insert(2, ("tables/hub_secrets/000001.jsonl".to_owned(), b"[\"links\",\"known\"]\n".to_vec()));
    forgery.refused(&unknown, "this part is unknown");
    let mut more = forgery.good.clone();
    more.insert(more.len() - 1, ("files/artifacts/../../x".to_owned(), b"x".to_vec()));
    forgery.refused(&more, "no row references this file");
    let without = |files: &str| forgery.good.iter().filter(|(name, _)| !name.starts_with(files)).cloned().collect();
    forgery.refused(&without("files/modules"), "at this position");
    forgery.refused(&without("files/worlds"), "at this position");
    forgery.refused(&without("files/artifacts"), "files referenced by rows are missing");
    forgery.refused(&forgery.with("files/artifacts/", |bytes| bytes[7] ^= 1), "a wrong SHA-256");
    forgery.refused(
        &forgery.with("tables/players/", |bytes| bytes.splice(1..1, *b"null,").for_each(drop)),
        "columns, not",
    );
    forgery.refused(&forgery.with("tables/players/", |bytes| bytes.extend(bytes.clone())), "a row already exists");
    // A kind of punishment that only a newer hub knows would stop the work of one loop for all networks.
    forgery.refused(
        &forgery.replaced("tables/punishments", "\"WARN\"", "\"HEX\""),
        "in tables/punishments/000001.jsonl: row 1: the column kind: must be BAN, MUTE, WARN or KICK",
    );
    forgery.refused(
        &forgery.replaced("tables/permission_groups", "[{", "[{\\\"x\\\""),
        "row 1: the column nodes: must be JSON as the hub writes it",
    );
    forgery.refused(
        &forgery.replaced("tables/webhooks", "\"STANDARD\"", "null"),
        "row 1: the column kind: must not be null",
    );
    let nobody: Members =
        forgery.good.iter().filter(|(name, _)| !name.starts_with("tables/networks")).cloned().collect();
    forgery.refused(&nobody, "it contains 0 networks");

    // Another network's key.
    let keys = members(&{
        let file = forgery.folder.path().join("theirs");
        export(&forgery.to, &other, &file);
        file
    });
    let (_, theirs) = members_of(&keys, "tables/api_keys").next().unwrap();
    let id = |row: &[u8]| serde_json::from_slice::<Value>(row).unwrap()[0].as_str().unwrap().to_owned();
    let (_, ours) = members_of(&forgery.good, "tables/api_keys").next().unwrap();
    forgery.refused(&forgery.replaced("tables/api_keys", &id(ours), &id(theirs)), "of this network or another");

    forgery.nothing_was_imported().await;
    assert!(before == forgery.export_other(), "another network was changed");
    forgery.other.get("/api/manage/keys").await.expect(200);
    seal(&forgery.good, &forgery.file());
    succeed(&forgery.to, &["import", text(&forgery.file())]);
    forgery.owner.get("/api/manage/keys").await.expect(200);
}

async fn a_damaged_file_is_refused_before_anything_is_written(to: Backend) {
    let forgery = Forgery::new(to).await;
    let whole = std::fs::read(forgery.folder.path().join("good")).unwrap();
    let damaged = |bytes: &[u8]| {
        std::fs::write(forgery.file(), bytes).unwrap();
        forgery.import().unwrap_err()
    };
    // By the command, which prints nothing else.
    std::fs::write(forgery.file(), &whole[..whole.len() / 2]).unwrap();
    assert_eq!(fail(&forgery.to, &["import", text(&forgery.file())]).lines().count(), 1);
    for cut in [0, 1, 511, 512, 1000, whole.len() / 3, whole.len() / 2, whole.len() - 20_000] {
        damaged(&whole[..cut]);
    }
    let mut longer = whole.clone();
    longer.extend(b"more");
    assert!(damaged(&longer).contains("continues after its summary"));
    assert!(damaged(b"").contains("not an export of a network"));
    assert!(damaged(&vec![b'x'; 100_000]).contains("not an export of a network"));
    // One bit, at random positions of a member's content.
    let mut at = 512;
    let mut tried = 0;
    for (name, bytes) in &forgery.good {
        let content = at;
        at += bytes.len().next_multiple_of(512) + 512;
        if bytes.is_empty() || name == "summary.json" {
            continue;
        }
        let mut flipped = whole.clone();
        flipped[content + bytes.len() / 2] ^= 1;
        damaged(&flipped);
        tried += 1;
    }
    assert!(tried > 30, "{tried}");
    forgery.nothing_was_imported().await;
}

/// Malformed rows under a matching summary may fail or not; they never panic or change another network.
async fn malformed_rows_affect_no_other_network(to: Backend) {
    let forgery = Forgery::new(to).await;
    let before = forgery.export_other();
    let ids = hub::ids::Ids::seeded(7);
    let tables: Vec<_> =
        forgery.good.iter().map(|(name, _)| name.clone()).filter(|name| name.starts_with("tables/")).collect();
    for round in 0..60 {
        let name = &tables[round % tables.len()];
        // Shown if an import panics.
        println!("round {round}: {name}");
        let members = forgery.with(name, |bytes| {
            for _ in 0..=round % 3 {
                let at = ids.seed() as usize % bytes.len();
                bytes[at] = b"\0\"[]{},-19eE.x\\u\nn\xff"[ids.seed() as usize % 19];
            }
        });
        seal(&members, &forgery.file());
        if forgery.import().is_ok() {
            // The change was valid. The next round imports the same network.
            unpublish(&forgery).await;
        }
    }
    assert!(before == forgery.export_other(), "another network was changed");
}

/// State after a killed import: the next removes the rows.
async fn unpublish(forgery: &Forgery) {
    let sql = "DELETE FROM networks WHERE network_id = $1";
    forgery.hub.app.db.write(sql).bind(forgery.owner.network.unwrap()).execute().await.unwrap();
}

on_each! {
    a_forged_file_is_refused
    a_damaged_file_is_refused_before_anything_is_written
    malformed_rows_affect_no_other_network
}

/// SQLite's texts hold U+0000, PostgreSQL's cannot.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_nul_that_cannot_be_stored_is_reported() {
    let forgery = Forgery::new(Backend::postgres().await).await;
    let members = forgery.replaced("tables/punishments/", "\"line one", "\"\\u0000line one");
    forgery.refused(&members, "PostgreSQL cannot store U+0000, which occurs in punishments.reason");
    forgery.nothing_was_imported().await;
    let sqlite = Backend::sqlite();
    succeed(&sqlite, &["create", "other"]);
    succeed(&sqlite, &["import", text(&forgery.file())]);
    let again = forgery.folder.path().join("again");
    export(&sqlite, &forgery.owner.network.unwrap().to_string(), &again);
    assert_eq!(counts(&again), counts(&forgery.file()));
}

#[test]
fn the_destination_is_checked_first() {
    let (backend, folder) = (Backend::sqlite(), TempDir::new().unwrap());
    let there = folder.path().join("there");
    std::fs::write(&there, "mine").unwrap();
    let made = succeed(&backend, &["create", "survival", "--json"]);
    assert!(made.contains("survival"));
    assert!(fail(&backend, &["export", "survival", "--out", text(&there)]).contains("already exists"));
    assert_eq!(std::fs::read(&there).unwrap(), b"mine");
    let nowhere = folder.path().join("no/where");
    assert!(fail(&backend, &["export", "survival", "--out", text(&nowhere)]).contains("cannot write to"));
    assert!(fail(&backend, &["export", "morning", "--out", text(&nowhere)]).contains("No network `morning`"));
    assert!(fail(&backend, &["import", text(&nowhere)]).contains("cannot open"));
    // Another network has the name.
    export(&backend, "survival", &folder.path().join("survival"));
    let other = Backend::sqlite();
    succeed(&other, &["create", "survival"]);
    assert!(
        fail(&other, &["import", text(&folder.path().join("survival"))]).contains("already has the name `survival`")
    );
}
