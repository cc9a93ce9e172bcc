//! Creates a module: a folder that builds without changes, with an example policy.

use super::embedded;
use super::error::BuildError;
use super::language::Language;
use super::manifest::{self, Manifest, NAME_RULE, is_name};
use super::module_toml;
use crate::contract::Point;
use std::path::Path;

/// Writes a module of this name into a folder, which must be empty or missing.
///
/// # Errors
/// See [`BuildError`].
pub fn create(folder: &Path, name: &str, language: Language, point: Point) -> Result<(), BuildError> {
    let invalid = |why: String| BuildError::Package { folder: folder.into(), why };
    if !is_name(name) {
        return Err(invalid(format!("`{name}` can't be a module's name, which {NAME_RULE}")));
    }
    if !language.serves(point) {
        return Err(invalid(module_toml::only_in_rust(point)));
    }
    let is_empty = std::fs::read_dir(folder).map_or(!folder.exists(), |mut entries| entries.next().is_none());
    if !is_empty {
        return Err(invalid("the folder is not empty".into()));
    }
    let files = Template { name, language, point }.files();
    files.into_iter().try_for_each(|(path, content)| embedded::write(&folder.join(path), &content))
}

/// Folders of an SDK of which a module gets a part or nothing.
const PARTS: [&str; 5] = ["/template/", "/bindings/", "/handlers/", "/points/", "/stubs/"];

/// Path and content of a file.
type File = (String, Vec<u8>);

struct Template<'a> {
    name: &'a str,
    language: Language,
    point: Point,
}

impl Template<'_> {
    fn files(&self) -> Vec<File> {
        let (point, sdk) = (self.point, self.language.sdk());
        let mut files: Vec<_> = ["cases.json", "config.example.json", "config.schema.json"]
            .map(|file| (file.to_owned(), self.fill(embedded::text(&format!("examples/{point}.{file}")))))
            .into();
        for (file, content) in embedded::under(&format!("{sdk}/template/common/")) {
            // Git would apply a file named .gitignore to the template itself.
            let file = if file == "gitignore" { ".gitignore" } else { file };
            files.push((file.to_owned(), self.fill(&String::from_utf8_lossy(content))));
        }
        let entry = self.language.entry();
        files.push((entry.to_owned(), self.fill(embedded::text(&self.language.template(point)))));
        if !point.is_override() {
            let manifest = embedded::text(&format!("examples/{point}.{}", module_toml::FILE));
            files.push((module_toml::FILE.to_owned(), self.fill(manifest)));
        }
        if self.language != Language::Rust {
            files.push((manifest::FILE.to_owned(), self.manifest()));
        }
        files.extend(self.sdk_files());
        files
    }

    /// The SDK, which is copied because no registry has it.
    fn sdk_files(&self) -> Vec<File> {
        let copied = |from: &str, to: &str| -> Vec<File> {
            embedded::under(from).map(|(file, content)| (format!("{to}{file}"), content.to_vec())).collect()
        };
        // The Rust SDK reads the contract beside it.
        let is_rust = self.language == Language::Rust;
        let mut files = copied(&format!("{}/", self.language.sdk()), if is_rust { "sdk/rust/" } else { "sdk/" });
        files.retain(|(file, _)| !PARTS.iter().any(|folder| file.contains(folder)));
        match self.language {
            Language::Rust => files.extend(copied("wit/1.1/", "sdk/wit/1.1/")),
            Language::C => {
                files.extend(copied(&format!("c/bindings/{}/", self.point), "sdk/"));
                files.extend(copied(&format!("c/points/{}/", self.point), "sdk/"));
                if !self.point.is_override() {
                    files.extend(copied("c/handlers/", "sdk/"));
                }
            }
            Language::Python => {
                let version = manifest::folder(manifest::contract(self.point));
                files.extend(copied(&format!("python/stubs/{version}/"), "sdk/stubs/"));
            }
            Language::Js | Language::Ts => {}
        }
        files
    }

    fn manifest(&self) -> Vec<u8> {
        let manifest = Manifest {
            name: self.name.to_owned(),
            language: self.language,
            points: vec![self.point],
            contract: manifest::contract(self.point).to_owned(),
            entry: self.language.entry().to_owned(),
        };
        format!("{}\n", serde_json::to_string_pretty(&manifest).unwrap_or_default()).into_bytes()
    }

    /// Fills in a text's placeholders.
    fn fill(&self, text: &str) -> Vec<u8> {
        let policy = embedded::text(&format!("examples/{}.md", self.point));
        let values = [
            ("{{policy}}", policy.trim_end()),
            ("{{name}}", self.name),
            ("{{point}}", self.point.name()),
            ("{{entry}}", self.language.entry()),
        ];
        values.iter().fold(text.to_owned(), |text, (place, value)| text.replace(place, value)).into_bytes()
    }
}

impl Language {
    /// True if its SDK has the point.
    pub fn serves(self, point: Point) -> bool {
        !embedded::text(&self.template(point)).is_empty()
    }

    /// The example policy of a point.
    fn template(self, point: Point) -> String {
        format!("{}/template/{point}.{}", self.sdk(), self.extension())
    }

    /// The folder of its SDK.
    const fn sdk(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::Js | Self::Ts => "js",
            Self::Python => "python",
            Self::C => "c",
        }
    }

    const fn extension(self) -> &'static str {
        match self {
            Self::Rust => "rs",
            Self::Js => "js",
            Self::Ts => "ts",
            Self::Python => "py",
            Self::C => "c",
        }
    }

    /// The path of a template's source.
    const fn entry(self) -> &'static str {
        match self {
            Self::Rust => "src/lib.rs",
            Self::Js => "src/index.js",
            Self::Ts => "src/index.ts",
            Self::Python => "src/module.py",
            Self::C => "src/module.c",
        }
    }
}
