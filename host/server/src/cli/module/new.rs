//! Creates a module's folder.

use std::path::PathBuf;

use clap::{Args, builder::PossibleValuesParser};
use hub_sandbox::build::{Language, create};
use hub_sandbox::contract::Point;
use serde_json::json;

#[derive(Args, Debug)]
pub(in crate::cli) struct New {
    /// Module name: 1 to 64 of a-z, 0-9 and -, beginning with a letter
    name: String,
    /// Programming language
    #[arg(long, default_value = "rust", value_parser = PossibleValuesParser::new(Language::ALL.map(Language::name)))]
    lang: String,
    /// Extension point
    #[arg(long, default_value = "matchmaking", value_parser = PossibleValuesParser::new(Point::ALL.map(Point::name)))]
    point: String,
    /// Folder to create [default: the module's name]
    #[arg(long)]
    dir: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl New {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let folder = self.dir.unwrap_or_else(|| PathBuf::from(&self.name));
        let language = Language::from_name(&self.lang).unwrap_or(Language::Rust);
        let point = Point::from_name(&self.point).unwrap_or(Point::Matchmaking);
        create(&folder, &self.name, language, point)?;
        if self.json {
            let json = json!({"name": self.name, "language": self.lang, "point": self.point, "folder": folder});
            print_json!(json);
            return Ok(());
        }
        println!("{} is a {point} module; see its README.md. Next:", folder.display());
        println!("  cd {} && hub module build", folder.display());
        Ok(())
    }
}
