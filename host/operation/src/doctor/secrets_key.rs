//! Check of the key that seals secrets.

use std::os::unix::fs::PermissionsExt as _;

use hub_db::Db;

use crate::config::Settings;
use crate::doctor::Check;
use crate::secrets::{KeyState, key_state};

/// Permission bits of group and others.
const OTHERS: u32 = 0o077;

/// Checks that the key opens the database's secrets and that only the hub's user can read it.
pub(super) async fn check(settings: &Settings, db: &Db) -> Check {
    let (name, path) = ("secrets-key", settings.secrets_key_file());
    let shown = path.display();
    let advice =
        "set --secrets-key to the key's file, or copy it from another node; if it is lost, run hub admin secrets renew";
    match key_state(&path, db).await {
        Ok(KeyState::Unused) => return Check::skipped(name, format!("{shown} is created when the hub starts")),
        Ok(KeyState::Missing) => return Check::failed(name, format!("{shown} is missing"), advice),
        Ok(KeyState::Other) => {
            return Check::failed(name, format!("{shown} does not open the secrets in the database"), advice);
        }
        Ok(KeyState::Fits) => {}
        Err(error) => return Check::failed(name, format!("{error:#}"), advice),
    }
    let mode = path.metadata().map_or(0, |metadata| metadata.permissions().mode() & 0o777);
    if mode & OTHERS != 0 {
        let advice = format!("run chmod 600 {shown}");
        return Check::failed(name, format!("other users can read {shown} (mode {mode:o})"), advice);
    }
    Check::ok(name, format!("{shown} opens the secrets; no backup contains it, so keep a copy apart from the backups"))
}
