//! Files that are damaged, of another age, or made by an enemy.

use std::fs::File;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use super::{counts, evening, export, fail, members, run, succeed, text};
use crate::support::{Backend, Client, Hub, on_each};

type Members = Vec<(String, Vec<u8>)>;

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

/// Writes an archive whose summary says what is in it, whatever that is.
fn seal(members: &Members, to: &Path) {
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
        // As it is, were it to lead out of the folder.
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_size(bytes.len() as u64);
        header.set_cksum();
        archive.append(&header, &**bytes).unwrap();
    }
    archive.finish().unwrap();
}

struct Enemy {
    hub: Hub,
    to: Backend,
    owner: Client,
    neighbour: Client,
    folder: TempDir,
    good: Members,
}

impl Enemy {
    async fn new(to: Backend) -> Self {
        let first = Hub::start(Backend::sqlite()).await;
        let owner = first.network().await;
        evening::fill(&first, &owner).await;
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("good");
        export(&first.stop().await, &owner.network.unwrap().to_string(), &file);
        let hub = Hub::start(to.clone()).await;
        let owner = hub.with_key(owner.key.as_deref().unwrap()).for_network(owner.network.unwrap());
        let neighbour = hub.network().await;
        evening::fill(&hub, &neighbour).await;
        Self { hub, to, owner, neighbour, good: members(&file), folder }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("bad")
    }

    fn all_of_neighbour(&self) -> Vec<u8> {
        let file = self.folder.path().join("neighbour");
        export(&self.to, &self.neighbour.network.unwrap().to_string(), &file);
        let bytes = std::fs::read(&file).unwrap();
        std::fs::remove_file(file).unwrap();
        bytes
    }

    /// The good file with one member changed, and a summary that agrees.
    fn with(&self, name: &str, change: impl FnOnce(&mut Vec<u8>)) -> Members {
        let mut members = self.good.clone();
        change(&mut members.iter_mut().find(|(member, _)| member.starts_with(name)).unwrap().1);
        members
    }

    /// The good file with one text of it changed wherever it is.
    fn replaced(&self, name: &str, from: &str, to: &str) -> Members {
        self.with(name, |bytes| {
            let text = String::from_utf8(bytes.clone()).unwrap();
            assert!(text.contains(from), "{from} is not in {text}");
            *bytes = text.replace(from, to).into_bytes();
        })
    }

    /// The good file as another network's.
    fn of(&self, other: &str) -> Members {
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

    #[track_caller]
    fn refused(&self, members: &Members, why: &str) {
        seal(members, &self.file());
        let said = fail(&self.to, &["import", text(&self.file())]);
        assert!(said.contains(why), "not `{why}`: {said}");
    }

    async fn nothing_came(&self) {
        for (table, count) in rows(&self.hub, &self.owner).await {
            assert_eq!(count, 0, "{table} has rows");
        }
    }
}

/// How many rows of the network some tables have, whether or not it is one.
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

async fn what_an_enemy_writes_is_refused(to: Backend) {
    let enemy = Enemy::new(to).await;
    let before = enemy.all_of_neighbour();
    let network = enemy.owner.network.unwrap().to_string();
    let neighbours = enemy.neighbour.network.unwrap().to_string();
    let nil = "00000000-0000-0000-0000-000000000000";
    let manifest = |from: &str, to: &str| enemy.replaced("manifest", from, to);
    enemy.refused(&manifest("\"format\":1", "\"format\":2"), "a newer one wrote it");
    enemy.refused(&manifest("\"format\":1", "\"format\":0"), "this hub reads 1");
    enemy.refused(&manifest("\"schema\":", "\"schema\":9"), "a newer hub wrote it");
    enemy.refused(&manifest("\"schema\":", "\"schema\":-"), "an older hub wrote it");
    enemy.refused(&enemy.of(nil), "--operator");
    enemy.refused(&enemy.of(&neighbours), "is here already");
    enemy.refused(&manifest("\"name\":\"", "\"name\":\"x"), "another network's");

    // What would be more than a network's.
    enemy.refused(&enemy.replaced("tables/api_keys", "network:manage", "operator network:manage"), "`operator`");
    for (table, up) in [("artifacts", "../../hub.db"), ("provisioning_bundles", "../x"), ("artifacts", "/etc/passwd")] {
        let members = enemy.with(&format!("tables/{table}/"), |bytes| {
            let mut row: Value = serde_json::from_slice(bytes).unwrap();
            row[usize::from(table != "artifacts")] = json!(up);
            *bytes = serde_json::to_vec(&row).unwrap();
            bytes.push(b'\n');
        });
        enemy.refused(&members, "no name of a file of the hub's");
    }
    let snapshot = format!("\"{network}/1/1-1-");
    enemy.refused(
        &enemy.replaced("tables/world_blobs", &snapshot, &format!("\"{neighbours}/1/1-1-")),
        "no name of a file",
    );
    enemy.refused(
        &enemy.replaced("tables/world_blobs", &snapshot, &format!("\"{network}/../1-1-")),
        "no name of a file",
    );
    let code = enemy.with("tables/module_code/", |bytes| {
        *bytes = format!("[\"chat-guard\",1,\"{}\",null]\n", STANDARD.encode("other code")).into_bytes();
    });
    enemy.refused(&code, "not the SHA-256");
    let inline = enemy.with("tables/module_code/", |bytes| {
        let text = String::from_utf8(bytes.clone()).unwrap();
        // What a file stands for, in its row, too.
        *bytes = text.replace("\"large-guard\",1,\"\"", &format!("\"large-guard\",1,\"{}\"", STANDARD.encode("more"))).into();
    });
    enemy.refused(&inline, "not the SHA-256");
    enemy.refused(&enemy.with("files/modules/", |bytes| bytes[7] ^= 1), "not the SHA-256");
    enemy.refused(&enemy.with("files/modules/", |bytes| bytes.truncate(9)), "bytes and should have");
    let sum = enemy.replaced("tables/modules/", "\"large-guard\",1,\"", "\"large-guard\",1,\"../");
    enemy.refused(&sum, "is no SHA-256");

    // What does not fit together.
    let mut moved = enemy.good.clone();
    moved.swap(2, 3);
    enemy.refused(&moved, "in the wrong place");
    let mut unknown = enemy.good.clone();
    unknown.insert(2, ("tables/hub_secrets/000001.jsonl".to_owned(), b"[\"links\",\"known\"]\n".to_vec()));
    enemy.refused(&unknown, "this part is unknown");
    let mut more = enemy.good.clone();
    more.insert(more.len() - 1, ("files/artifacts/../../x".to_owned(), b"x".to_vec()));
    enemy.refused(&more, "no row names this file");
    let without = |files: &str| enemy.good.iter().filter(|(name, _)| !name.starts_with(files)).cloned().collect();
    enemy.refused(&without("files/modules"), "not in this place");
    enemy.refused(&without("files/worlds"), "not in this place");
    enemy.refused(&without("files/artifacts"), "files that rows name are not in it");
    enemy.refused(&enemy.with("files/artifacts/", |bytes| bytes[7] ^= 1), "not the SHA-256");
    enemy.refused(&enemy.with("tables/players/", |bytes| bytes.splice(1..1, *b"null,").for_each(drop)), "columns, not");
    enemy.refused(&enemy.with("tables/players/", |bytes| bytes.extend(bytes.clone())), "a row is there already");
    let nobody: Members = enemy.good.iter().filter(|(name, _)| !name.starts_with("tables/networks")).cloned().collect();
    enemy.refused(&nobody, "it holds 0 networks");

    // Another's key.
    let keys = members(&{
        let file = enemy.folder.path().join("theirs");
        export(&enemy.to, &neighbours, &file);
        file
    });
    let (_, theirs) = members_of(&keys, "tables/api_keys").next().unwrap();
    let id = |row: &[u8]| serde_json::from_slice::<Value>(row).unwrap()[0].as_str().unwrap().to_owned();
    let (_, ours) = members_of(&enemy.good, "tables/api_keys").next().unwrap();
    enemy.refused(&enemy.replaced("tables/api_keys", &id(ours), &id(theirs)), "of this network or another");

    enemy.nothing_came().await;
    assert!(before == enemy.all_of_neighbour(), "the neighbour was touched");
    enemy.neighbour.get("/api/manage/keys").await.expect(200);
    seal(&enemy.good, &enemy.file());
    succeed(&enemy.to, &["import", text(&enemy.file())]);
    enemy.owner.get("/api/manage/keys").await.expect(200);
}

async fn a_damaged_file_is_refused_before_anything_is_written(to: Backend) {
    let enemy = Enemy::new(to).await;
    let whole = std::fs::read(enemy.folder.path().join("good")).unwrap();
    let damaged = |bytes: &[u8]| {
        std::fs::write(enemy.file(), bytes).unwrap();
        fail(&enemy.to, &["import", text(&enemy.file())])
    };
    for cut in [0, 1, 511, 512, 1000, whole.len() / 3, whole.len() / 2, whole.len() - 20_000] {
        damaged(&whole[..cut]);
    }
    let mut longer = whole.clone();
    longer.extend(b"more");
    assert!(damaged(&longer).contains("goes on after its summary"));
    assert!(damaged(b"").contains("no export of a network"));
    assert!(damaged(&vec![b'x'; 100_000]).contains("no export of a network"));
    // One bit, somewhere in what a member holds.
    let mut at = 512;
    let mut tried = 0;
    for (name, bytes) in &enemy.good {
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
    enemy.nothing_came().await;
}

/// Rows that are no rows, under a summary that agrees: whatever becomes of them, it is no panic, and nobody else's loss.
async fn nonsense_harms_nobody(to: Backend) {
    let enemy = Enemy::new(to).await;
    let before = enemy.all_of_neighbour();
    let ids = hub::ids::Ids::seeded(7);
    let tables: Vec<_> =
        enemy.good.iter().map(|(name, _)| name.clone()).filter(|name| name.starts_with("tables/")).collect();
    for round in 0..60 {
        let name = &tables[round % tables.len()];
        let members = enemy.with(name, |bytes| {
            for _ in 0..=round % 3 {
                let at = ids.seed() as usize % bytes.len();
                bytes[at] = b"\0\"[]{},-19eE.x\\u\nn\xff"[ids.seed() as usize % 19];
            }
        });
        seal(&members, &enemy.file());
        let output = run(&enemy.to, &["import", text(&enemy.file())]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(matches!(output.status.code(), Some(0 | 1)), "{name}: {said}");
        if output.status.success() {
            // A value of the network's own; it makes way for the next round.
            forget(&enemy).await;
        }
    }
    assert!(before == enemy.all_of_neighbour(), "the neighbour was touched");
}

/// As if the import had not come to its end: the next takes the rows away.
async fn forget(enemy: &Enemy) {
    let sql = "DELETE FROM networks WHERE network_id = $1";
    enemy.hub.app.db.write(sql).bind(enemy.owner.network.unwrap()).execute().await.unwrap();
}

on_each! {
    what_an_enemy_writes_is_refused
    a_damaged_file_is_refused_before_anything_is_written
    nonsense_harms_nobody
}

/// What SQLite holds and PostgreSQL cannot.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_nul_is_named_where_it_cannot_be_kept() {
    let enemy = Enemy::new(Backend::postgres().await).await;
    let members = enemy.replaced("tables/config_documents", "\"lobby\",\"board\",\"", "\"lobby\",\"board\",\"\\u0000");
    enemy.refused(&members, "PostgreSQL cannot keep U+0000, which is in config_documents.doc");
    enemy.nothing_came().await;
    let sqlite = Backend::sqlite();
    succeed(&sqlite, &["import", text(&enemy.file())]);
    let again = enemy.folder.path().join("again");
    export(&sqlite, &enemy.owner.network.unwrap().to_string(), &again);
    assert_eq!(counts(&again), counts(&enemy.file()));
}

#[test]
fn where_it_goes_is_checked_first() {
    let (backend, folder) = (Backend::sqlite(), TempDir::new().unwrap());
    let there = folder.path().join("there");
    std::fs::write(&there, "mine").unwrap();
    let made = succeed(&backend, &["create", "evening", "--json"]);
    assert!(made.contains("evening"));
    assert!(fail(&backend, &["export", "evening", "--out", text(&there)]).contains("is there already"));
    assert_eq!(std::fs::read(&there).unwrap(), b"mine");
    let nowhere = folder.path().join("no/where");
    assert!(fail(&backend, &["export", "evening", "--out", text(&nowhere)]).contains("cannot write to"));
    assert!(fail(&backend, &["export", "morning", "--out", text(&nowhere)]).contains("no network `morning`"));
    assert!(fail(&backend, &["import", text(&nowhere)]).contains("cannot open"));
    // Another network has the name.
    export(&backend, "evening", &folder.path().join("evening"));
    let other = Backend::sqlite();
    succeed(&other, &["create", "evening"]);
    assert!(fail(&other, &["import", text(&folder.path().join("evening"))]).contains("is named `evening` here"));
}
