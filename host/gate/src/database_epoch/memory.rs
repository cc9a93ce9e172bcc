//! The file in which a node remembers the database's place in its history.

use std::io::{Error, Write as _};
use std::path::Path;

use hub_db::Epoch;
use serde::{Deserialize, Serialize};

const FILE: &str = "database-epoch.json";

/// The database as a node has seen it last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Stored", into = "Stored")]
pub(super) struct Remembered {
    /// The hub that the database is of: another one's says nothing.
    pub(super) cluster: String,
    /// Name of this data folder among the nodes'.
    pub(super) node: String,
    pub(super) epoch: Epoch,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    cluster: String,
    node: String,
    epoch: i64,
    position: i64,
}

impl From<Stored> for Remembered {
    fn from(stored: Stored) -> Self {
        let Stored { cluster, node, .. } = stored;
        Self { cluster, node, epoch: Epoch { number: stored.epoch, position: stored.position } }
    }
}

impl From<Remembered> for Stored {
    fn from(remembered: Remembered) -> Self {
        let Remembered { cluster, node, epoch } = remembered;
        Self { cluster, node, epoch: epoch.number, position: epoch.position }
    }
}

impl Remembered {
    /// None if there is no file, or one that was damaged: then nothing is known of the last run.
    pub(super) fn load(folder: &Path) -> Option<Self> {
        let text = std::fs::read(folder.join(FILE)).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Replaces the file whole, so that a power cut leaves the earlier one.
    pub(super) fn save(&self, folder: &Path) -> Result<(), Error> {
        let unfinished = folder.join(format!("{FILE}.new"));
        let mut file = std::fs::File::create(&unfinished)?;
        file.write_all(&serde_json::to_vec(self)?)?;
        file.sync_all()?;
        std::fs::rename(unfinished, folder.join(FILE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_saved_is_loaded_and_a_damaged_file_is_not() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Remembered::load(folder.path()), None);
        let remembered =
            Remembered { cluster: "c".into(), node: "n".into(), epoch: Epoch { number: 1 << 30, position: 5 } };
        remembered.save(folder.path()).unwrap();
        assert_eq!(Remembered::load(folder.path()), Some(remembered));
        std::fs::write(folder.path().join(FILE), "{\"cluster\":").unwrap();
        assert_eq!(Remembered::load(folder.path()), None);
    }
}
