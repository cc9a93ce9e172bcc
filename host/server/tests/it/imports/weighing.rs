//! Files that are small and unpack or expand to much: refused before it is made.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::DeflateEncoder;
use serde_json::json;

use super::files::{self, player};
use super::{BALANCES, IMPORTS, import, upload};
use crate::support::{Hub, on_both};

/// Archive whose list names `names`, each with the bytes at its place: one local file for all, or each its own.
fn archive(names: &[String], content: &[u8], is_shared: bool) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(vec![], Compression::best());
    encoder.write_all(content).unwrap();
    let packed = encoder.finish().unwrap();
    let mut crc = flate2::Crc::new();
    crc.update(content);
    let numbers = |numbers: &[u32]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
    let (packed_size, size) = (u32::try_from(packed.len()).unwrap(), u32::try_from(content.len()).unwrap());
    let sizes = numbers(&[0x21 << 16, crc.sum(), packed_size, size]);
    let (mut file, mut list) = (vec![], vec![]);
    for (at, name) in names.iter().enumerate() {
        let offset = if is_shared { 0 } else { u32::try_from(file.len()).unwrap() };
        let length = u16::try_from(name.len()).unwrap().to_le_bytes();
        if at == 0 || !is_shared {
            file.extend(b"PK\x03\x04\x14\0\0\0\x08\0");
            file.extend(&sizes);
            file.extend(length);
            file.extend([0, 0]);
            file.extend(name.as_bytes());
            file.extend(&packed);
        }
        list.extend(b"PK\x01\x02\x14\0\x14\0\0\0\x08\0");
        list.extend(&sizes);
        list.extend(length);
        list.extend([0; 12]);
        list.extend(offset.to_le_bytes());
        list.extend(name.as_bytes());
    }
    let count = u16::try_from(names.len()).unwrap().to_le_bytes();
    let at = u32::try_from(file.len()).unwrap();
    file.extend(&list);
    file.extend(b"PK\x05\x06\0\0\0\0");
    file.extend(count);
    file.extend(count);
    file.extend(numbers(&[u32::try_from(list.len()).unwrap(), at]));
    file.extend([0, 0]);
    file
}

on_both! {
    async fn archives_are_weighed_before_they_are_unpacked(hub: Hub) {
        let owner = hub.network().await;
        let name = |at: usize| format!("userdata/{}.yml", player(at));
        let names: Vec<_> = (0..1_200).map(name).collect();
        let large = vec![b'#'; 1024 * 1024];
        for (file, message) in [
            (archive(&names[..20], b"money: '5'\n", true), "the same bytes as several files"),
            (archive(&names, &large, false), "more than 1 GiB"),
            (archive(&[name(1), name(1)], b"money: '5'\n", false), "several files of one player"),
            (archive(&names[..2], b"money: '5'\n", false)[..100].to_vec(), "archive"),
        ] {
            let failed = import(&owner, BALANCES, file).await;
            assert_eq!(failed["state"], "FAILED", "{failed}");
            assert!(failed["error"]["message"].as_str().unwrap().contains(message), "{message}: {failed}");
        }
        let done = import(&owner, BALANCES, archive(&names[..20], b"money: '5'\n", false)).await;
        assert_eq!((done["state"].as_str(), super::counts(&done, "BALANCES")), (Some("DONE"), [20, 0, 0, 0]), "{done}");
    }

    async fn expansions_are_weighed_before_they_are_made(hub: Hub) {
        let owner = hub.network().await;
        let node = |key: String| json!({"groups": {"g": {"nodes": [{"type": "permission", "key": key, "value": true}]}}, "users": {}});
        for key in [
            format!("{}{{{}}}", "x".repeat(500_000), vec!["a"; 250_000].join(",")),
            format!("{}{{{}}}", "x".repeat(2_000), vec!["a"; 900].join(",")),
            "{a}".repeat(1_000),
        ] {
            let file = files::gzip(node(key).to_string().as_bytes());
            let done = import(&owner, "kind=luckperms", file).await;
            assert_eq!(done["state"], "DONE", "{done}");
            assert!(super::has_note(&done, "The shorthand is too long"), "{done}");
        }
        let quoted = format!("uuid,balance\n{},\"{}\"\n", player(1), "5\n".repeat(1_000_000));
        let failed = import(&owner, BALANCES, files::gzip(quoted.as_bytes())).await;
        assert!(failed["error"]["message"].as_str().unwrap().contains("longer than 64 KiB"), "{failed}");
        let replaced = "PRAGMA foreign_keys=OFF;\nINSERT INTO litebans_bans (id, uuid, time, until, active, reason) VALUES (1, 'x', 1, 0, 1, replace('";
        let replaced = format!("{replaced}{}', 'a', '{}'));\n", "a".repeat(500_000), "b".repeat(500_000));
        let failed = import(&owner, "kind=litebans", files::gzip(replaced.as_bytes())).await;
        assert_eq!(failed["state"], "FAILED", "{failed}");
    }

    async fn a_cancelled_reading_ends_at_once(hub: Hub) {
        let owner = hub.network().await;
        // Two hundred mebibytes of a statement that nobody reads.
        let mut encoder = flate2::write::GzEncoder::new(vec![], Compression::fast());
        for _ in 0..200 {
            encoder.write_all(&vec![b' '; 1024 * 1024]).unwrap();
        }
        let made = upload(&owner, "kind=litebans", encoder.finish().unwrap()).await.expect(201).clone();
        let path = format!("{IMPORTS}/{}", made["importId"].as_str().unwrap());
        Hub::eventually("it runs", async || owner.get(&path).await.expect(200)["state"] == "RUNNING").await;
        assert_eq!(owner.post(&format!("{path}/cancel"), json!({})).await.expect(200)["state"], "CANCELLED");
        let folder = hub.app.settings.data.join("imports");
        let is_free = async || std::fs::read_dir(&folder).is_ok_and(|files| files.count() == 0);
        Hub::eventually("its file is no longer read", is_free).await;
        let done = import(&owner, BALANCES, format!("uuid,balance\n{},5\n", player(1))).await;
        assert_eq!(done["state"], "DONE");
    }
}
