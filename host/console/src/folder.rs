//! Files of the console in a checkout.

use std::path::Path;
use std::sync::LazyLock;

/// Folder of the files in a checkout; none in a build that is installed.
pub(crate) fn folder() -> Option<&'static Path> {
    static FOLDER: LazyLock<Option<&'static Path>> = LazyLock::new(|| {
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/files"));
        (cfg!(debug_assertions) && folder.is_dir()).then_some(folder)
    });
    *FOLDER
}
