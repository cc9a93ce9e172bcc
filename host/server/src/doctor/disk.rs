//! The machine: the data folder, its disk, the clock.

use std::os::unix::fs::PermissionsExt as _;

use jiff::Timestamp;

use crate::clock::Clock;
use crate::config::Settings;
use crate::data_folder;
use crate::doctor::Check;

/// The permissions of group and others.
const OTHERS: u32 = 0o077;
/// 2026-01-01: a clock before that is wrong.
const EARLIEST: i64 = 1_767_225_600_000;

/// Whether the data folder is there, can be written to, and is the hub's alone.
pub(super) fn permissions(settings: &Settings) -> Check {
    let (name, shown) = ("data-folder", data_folder::shown(settings));
    let folder = shown.display();
    let metadata = match shown.metadata() {
        Ok(metadata) if metadata.is_dir() => metadata,
        Ok(_) => return Check::failed(name, format!("{folder} is no folder"), "name the hub's folder with --data"),
        Err(error) => {
            return Check::failed(name, format!("{folder}: {error}"), "name the hub's folder with --data (HUB_DATA)");
        }
    };
    if let Err(error) = tempfile::NamedTempFile::new_in(&shown) {
        let advice = "run the doctor as the hub's user; if it is, give that user the folder (chown)";
        return Check::failed(name, format!("{folder} cannot be written to: {error}"), advice);
    }
    let mode = metadata.permissions().mode() & 0o777;
    if mode & OTHERS != 0 {
        let advice = format!("chmod go-rwx {folder}, or start the hub once, which does so");
        return Check::failed(name, format!("others may read {folder}, which holds secrets (mode {mode:o})"), advice);
    }
    Check::ok(name, format!("{folder} is the hub's alone"))
}

/// Whether the data folder's disk has room.
pub(super) fn space(settings: &Settings, min_free: u64) -> Check {
    let name = "disk";
    let disk = match rustix::fs::statvfs(&settings.data) {
        Ok(disk) => disk,
        Err(error) => return Check::skipped(name, format!("the disk cannot be looked at: {error}")),
    };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize) >> 20;
    let message = format!("{free} MiB are free");
    if free < min_free {
        let advice = "make room, or move the data folder to a larger disk; a full disk stops the hub";
        return Check::failed(name, format!("{message}, and {min_free} should be"), advice);
    }
    if disk.f_files > 0 && disk.f_favail == 0 {
        return Check::failed(name, "no more files can be made", "delete files, or use a file system with more inodes");
    }
    Check::ok(name, message)
}

/// Whether the machine's clock can be right.
pub(super) fn clock() -> Check {
    let now = Clock::System.now();
    let shown = Timestamp::from_millisecond(now).map_or_else(|_| now.to_string(), |at| at.to_string());
    if now < EARLIEST {
        return Check::failed(
            "clock",
            format!("the machine's clock shows {shown}"),
            "set the clock, and let NTP keep it",
        );
    }
    Check::ok("clock", format!("the machine's clock shows {shown}"))
}
