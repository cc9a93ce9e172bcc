//! Checks of the machine: data folder, disk, clock.

use std::os::unix::fs::PermissionsExt as _;

use jiff::Timestamp;

use crate::clock::Clock;
use crate::config::Settings;
use crate::data_folder;
use crate::doctor::Check;

/// Permission bits of group and others.
const OTHERS: u32 = 0o077;
/// 2026-01-01: an earlier clock is wrong.
const EARLIEST: i64 = 1_767_225_600_000;

/// Checks that the data folder exists, is writable, and is accessible only to the hub.
pub(super) fn permissions(settings: &Settings) -> Check {
    let (name, shown) = ("data-folder", data_folder::shown(settings));
    let folder = shown.display();
    let metadata = match shown.metadata() {
        Ok(metadata) if metadata.is_dir() => metadata,
        Ok(_) => return Check::failed(name, format!("{folder} is not a folder"), "set --data to the hub's folder"),
        Err(error) => {
            return Check::failed(name, format!("{folder}: {error}"), "set --data (HUB_DATA) to the hub's folder");
        }
    };
    if let Err(error) = tempfile::NamedTempFile::new_in(&shown) {
        let advice = "run the doctor as the hub's user, and make that user the folder's owner (chown)";
        return Check::failed(name, format!("{folder} is not writable: {error}"), advice);
    }
    let mode = metadata.permissions().mode() & 0o777;
    if mode & OTHERS != 0 {
        let advice = format!("run chmod go-rwx {folder}, or start the hub once, which does the same");
        return Check::failed(name, format!("other users can access {folder} and its secrets (mode {mode:o})"), advice);
    }
    Check::ok(name, format!("only the hub's user can access {folder}"))
}

/// Checks the free space on the data folder's disk.
pub(super) fn space(settings: &Settings, min_free: u64) -> Check {
    let name = "disk";
    let disk = match rustix::fs::statvfs(&settings.data) {
        Ok(disk) => disk,
        Err(error) => return Check::skipped(name, format!("cannot inspect the disk: {error}")),
    };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize) >> 20;
    let message = format!("{free} MiB free");
    if free < min_free {
        let advice = "free disk space, or move the data folder to a larger disk; a full disk stops the hub";
        return Check::failed(name, format!("{message}, minimum {min_free} MiB"), advice);
    }
    if disk.f_files > 0 && disk.f_favail == 0 {
        return Check::failed(name, "no free inodes", "delete files, or use a file system with more inodes");
    }
    Check::ok(name, message)
}

/// Checks that the machine's clock is plausible.
pub(super) fn clock() -> Check {
    let now = Clock::System.now();
    let shown = Timestamp::from_millisecond(now).map_or_else(|_| now.to_string(), |at| at.to_string());
    if now < EARLIEST {
        return Check::failed(
            "clock",
            format!("the system clock shows {shown}"),
            "set the clock and synchronize it with NTP",
        );
    }
    Check::ok("clock", format!("the system clock shows {shown}"))
}
