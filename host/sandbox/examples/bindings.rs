//! Writes the contract as C for each point that a module in C may serve: `cargo run --example bindings FOLDER`. `scripts/sdk`
//! calls it.

use std::error::Error;
use std::fs;
use std::path::Path;
use wit_bindgen_core::Files;
use wit_bindgen_core::wit_parser::Resolve;

/// Points, each in the oldest version of the contract that has it.
const POINTS: [(&str, &str); 4] = [("matchmaking", "1.0"), ("chat", "1.0"), ("punishment", "1.0"), ("events", "1.1")];

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
    for (point, version) in POINTS {
        let contract = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins-sdk/wit").join(version);
        let mut resolve = Resolve::default();
        let (package, _) = resolve.push_dir(&contract)?;
        let world = resolve.select_world(&[package], Some(&format!("{point}-module")))?;
        let has = |name: &str| contract.join(name).with_extension("wit").exists();
        let names = NAMES.into_iter().chain([(point, point)]).filter(|(name, _)| has(name));
        let options = wit_bindgen_c::Opts {
            no_object_file: true,
            rename: names.map(|(name, to)| (format!("network-hub:module/{name}@{version}.0"), to.to_owned())).collect(),
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
