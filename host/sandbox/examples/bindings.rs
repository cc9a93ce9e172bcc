//! Writes the contract as C for each point that a module in C may serve: `cargo run --example bindings FOLDER`. `scripts/sdk`
//! calls it.

use std::error::Error;
use std::fs;
use std::path::Path;
use wit_bindgen_core::Files;
use wit_bindgen_core::wit_parser::Resolve;

/// Points with their interfaces, each in the oldest version of the contract that has it.
const POINTS: [(&str, &str, &[&str]); 9] = [
    ("matchmaking", "1.0", &["matchmaking"]),
    ("chat", "1.0", &["chat"]),
    ("punishment", "1.0", &["punishment"]),
    ("events", "1.1", &["events"]),
    ("endpoints", "1.1", &["endpoints"]),
    ("schedules", "1.1", &["schedules", "timers"]),
    ("login", "1.1", &["login"]),
    ("economy", "1.1", &["economy"]),
    ("queue", "1.1", &["queue"]),
];

/// Interfaces, with the beginning of their names in C.
const NAMES: [(&str, &str); 7] = [
    ("types", "hub"),
    ("log", "hub_log"),
    ("store", "hub_store"),
    ("state", "hub_state"),
    ("players", "hub_players"),
    ("candidates", "hub_candidates"),
    ("effects", "hub_effects"),
];

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("needs the folder to write to")?;
    for (point, version, interfaces) in POINTS {
        let contract = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins-sdk/wit").join(version);
        let mut resolve = Resolve::default();
        resolve.push_dir(&contract)?;
        let package = resolve.push_str("hub.wit", &world_of(interfaces, version))?;
        let world = resolve.select_world(&[package], Some("hub"))?;
        let (imports, exports) = (&resolve.worlds[world].imports, &resolve.worlds[world].exports);
        let known: Vec<_> = imports.keys().chain(exports.keys()).map(|key| resolve.name_world_key(key)).collect();
        let names = NAMES.into_iter().chain(interfaces.iter().map(|name| (*name, *name)));
        let names = names.map(|(name, to)| (format!("network-hub:module/{name}@{version}.0"), to.to_owned()));
        let options = wit_bindgen_c::Opts {
            no_object_file: true,
            rename: names.filter(|(name, _)| known.contains(name)).collect(),
            rename_world: Some("hub".to_owned()),
            ..Default::default()
        };
        let mut files = Files::default();
        options.build().generate(&mut resolve, world, &mut files)?;
        let folder = Path::new(&folder).join(point);
        fs::create_dir_all(&folder)?;
        for (name, content) in files.iter() {
            fs::write(folder.join(name), content)?;
        }
    }
    Ok(())
}

/// A world that exports these interfaces, in a package of its own.
fn world_of(interfaces: &[&str], version: &str) -> String {
    let include = |name: &&str| format!("include network-hub:module/{name}-module@{version}.0;");
    let includes: Vec<_> = interfaces.iter().map(include).collect();
    format!("package network-hub:bindings;\nworld hub {{ {} }}\n", includes.concat())
}
