//! Builds a module.

use std::path::PathBuf;

use clap::Args;
use hub_sandbox::build::{Built, Symbols};
use serde_json::json;

#[derive(Args, Debug)]
pub(in crate::cli) struct Build {
    /// Module folder, containing Cargo.toml or hub-module.json
    #[arg(default_value = ".")]
    dir: PathBuf,
    /// Keep debug symbols for backtraces (Rust and C); the component gets several times larger
    #[arg(long)]
    debug: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Build {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let (built, file) = build_module(self.dir, if self.debug { Symbols::Lines } else { Symbols::Names }).await?;
        let points: Vec<_> = built.points.iter().map(ToString::to_string).collect();
        if self.json {
            let json = json!({
                "name": built.name, "file": file, "sizeBytes": built.component.len(), "points": points,
            });
            print_json!(json);
            return Ok(());
        }
        println!("{}: {} bytes, serves {}", file.display(), built.component.len(), points.join(", "));
        Ok(())
    }
}

/// Builds the module in a folder and returns its component and the written file.
pub(super) async fn build_module(folder: PathBuf, symbols: Symbols) -> anyhow::Result<(Built, PathBuf)> {
    Ok(tokio::task::spawn_blocking(move || hub_sandbox::build::build(&folder, symbols)).await??)
}
