//! Files of `docs/`: in the binary, or while developing read from the checkout when the hub starts.

use std::borrow::Cow;
use std::collections::BTreeMap;

/// Files below `docs/` by their paths.
pub(crate) type Files = BTreeMap<String, Cow<'static, [u8]>>;

/// Kinds of files that are served, by the ending of their names.
const KINDS: [(&str, &str); 10] = [
    ("md", "text/markdown; charset=utf-8"),
    ("svg", "image/svg+xml"),
    ("png", "image/png"),
    ("java", "text/plain; charset=utf-8"),
    ("json", "application/json"),
    ("mjs", "text/plain; charset=utf-8"),
    ("py", "text/plain; charset=utf-8"),
    ("sh", "text/plain; charset=utf-8"),
    ("toml", "text/plain; charset=utf-8"),
    ("txt", "text/plain; charset=utf-8"),
];

/// Content type of a file; none for files that are not served.
pub(crate) fn kind(path: &str) -> Option<&'static str> {
    let (_, ending) = path.rsplit_once('.')?;
    KINDS.iter().find(|(known, _)| *known == ending).map(|(_, kind)| *kind)
}

/// True for Markdown.
pub(crate) fn is_page(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, ending)| ending == "md")
}

/// All files.
#[cfg(not(debug_assertions))]
pub(crate) fn all() -> Files {
    static DOCS: include_dir::Dir<'static> = include_dir::include_dir!("$CARGO_MANIFEST_DIR/../../docs");
    fn add(folder: &'static include_dir::Dir<'static>, files: &mut Files) {
        for file in folder.files() {
            if let Some(path) = file.path().to_str() {
                files.insert(path.replace('\\', "/"), Cow::Borrowed(file.contents()));
            }
        }
        folder.dirs().for_each(|folder| add(folder, files));
    }
    let mut files = Files::new();
    add(&DOCS, &mut files);
    files
}

/// All files. A change of a page compiles nothing.
#[cfg(debug_assertions)]
pub(crate) fn all() -> Files {
    use std::path::Path;

    fn add(folder: &Path, below: &str, files: &mut Files) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(name) = entry.file_name().into_string() else { continue };
            let (path, name) = (entry.path(), format!("{below}{name}"));
            if path.is_dir() {
                add(&path, &format!("{name}/"), files);
            } else if let Ok(bytes) = std::fs::read(&path) {
                files.insert(name, Cow::Owned(bytes));
            }
        }
    }
    let mut files = Files::new();
    add(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs")), "", &mut files);
    files
}

/// A template or an asset: in a checkout the file as it is now, so that a change shows without compiling.
pub(crate) fn edited(name: &str, embedded: &'static str) -> Cow<'static, str> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/files/");
    let text = if cfg!(debug_assertions) { std::fs::read_to_string(format!("{file}{name}")).ok() } else { None };
    text.map_or(Cow::Borrowed(embedded), Cow::Owned)
}
