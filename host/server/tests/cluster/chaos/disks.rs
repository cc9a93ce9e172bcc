//! Small disks that can be filled up.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A tmpfs if mounting is allowed, otherwise a folder.
pub struct Disk {
    folder: PathBuf,
    is_mounted: bool,
}

impl Disk {
    pub fn new(folder: PathBuf, megabytes: u32) -> Self {
        std::fs::create_dir_all(&folder).unwrap();
        let options = format!("size={megabytes}m,mode=777");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &options, "chaos"]).arg(&folder);
        Self { is_mounted: mount.status().is_ok_and(|status| status.success()), folder }
    }

    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// True if it can be filled up.
    pub fn is_small(&self) -> bool {
        self.is_mounted
    }

    /// Fills it up.
    pub fn fill(&self) {
        let file = std::fs::File::create(self.filler()).unwrap();
        let zeros = vec![0; 1 << 20];
        while std::io::Write::write_all(&mut &file, &zeros).is_ok() {}
        // The rest, byte by byte.
        while std::io::Write::write_all(&mut &file, &zeros[..1]).is_ok() {}
    }

    pub fn free(&self) {
        let _ = std::fs::remove_file(self.filler());
    }

    fn filler(&self) -> PathBuf {
        self.folder.join("filler")
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        if self.is_mounted {
            let _ = Command::new("umount").arg("--lazy").arg(&self.folder).status();
        }
    }
}
