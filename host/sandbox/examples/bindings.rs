//! Writes the contract as C for each point: `cargo run --example bindings FOLDER`. `scripts/sdk` calls it.

use std::error::Error;
use std::fs;
use std::path::Path;
use wit_bindgen_core::Files;
use wit_bindgen_core::wit_parser::Resolve;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("needs the folder to write to")?;
    let contract = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins-sdk/wit/1.0");
    for point in ["matchmaking", "chat", "punishment"] {
        let mut resolve = Resolve::default();
        let (package, _) = resolve.push_dir(&contract)?;
        let world = resolve.select_world(&[package], Some(&format!("{point}-module")))?;
        let names = [
            ("types", "hub"),
            ("log", "hub_log"),
            ("store", "hub_store"),
            ("players", "hub_players"),
            ("candidates", "hub_candidates"),
            (point, point),
        ];
        let options = wit_bindgen_c::Opts {
            no_object_file: true,
            rename: names.map(|(name, to)| (format!("network-hub:module/{name}@1.0.0"), to.to_owned())).into(),
            rename_world: Some("hub".to_owned()),
            ..Default::default()
        };
        let mut files = Files::default();
        options.build().generate(&mut resolve, world, &mut files)?;
        for (name, content) in files.iter() {
            fs::write(Path::new(&folder).join(point).join(name), content)?;
        }
    }
    Ok(())
}
