//! Profiles of `hub login`, in the user's configuration folder: hubs, and the sessions at them.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

/// A session at a hub.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Profile {
    pub(super) url: String,
    pub(super) token: String,
    pub(super) email: String,
    /// Network to act in; none for an operator.
    pub(super) network_id: Option<String>,
    pub(super) network_name: Option<String>,
    pub(super) expires_at: i64,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Profiles {
    /// Name of the profile that was signed in last.
    current: Option<String>,
    profiles: BTreeMap<String, Profile>,
}

impl Profiles {
    /// Reads the profiles; none are there before the first sign-in.
    pub(super) fn read() -> anyhow::Result<Self> {
        let Ok(path) = file() else { return Ok(Self::default()) };
        match fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text)
                .with_context(|| format!("{} is damaged: delete it, and sign in again by `hub login`", path.display())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Profile> {
        self.profiles.get(name)
    }

    pub(super) fn current(&self) -> Option<(&str, &Profile)> {
        let name = self.current.as_deref()?;
        Some((name, self.profiles.get(name)?))
    }

    /// Adds a profile, which is the current one from now on.
    pub(super) fn put(&mut self, name: &str, profile: Profile) {
        self.profiles.insert(name.to_owned(), profile);
        self.current = Some(name.to_owned());
    }

    /// Removes a profile; another one becomes the current one.
    pub(super) fn remove(&mut self, name: &str) -> Option<Profile> {
        let removed = self.profiles.remove(name)?;
        if self.current.as_deref() == Some(name) {
            self.current = self.profiles.keys().next().cloned();
        }
        Some(removed)
    }

    /// Replaces the file as a whole. Only its user can read it.
    pub(super) fn write(&self) -> anyhow::Result<PathBuf> {
        let path = file()?;
        let folder = path.parent().unwrap_or(Path::new("."));
        let cannot = || format!("cannot write {}", path.display());
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).with_context(cannot)?;
        let new = path.with_extension(format!("{}.new", std::process::id()));
        let mut options = fs::OpenOptions::new();
        let mut out = options.write(true).create(true).truncate(true).mode(0o600).open(&new).with_context(cannot)?;
        out.write_all(&serde_json::to_vec_pretty(self)?).with_context(cannot)?;
        fs::rename(&new, &path).with_context(cannot)?;
        Ok(path)
    }
}

fn file() -> anyhow::Result<PathBuf> {
    Ok(config_folder()?.join("profiles.json"))
}

/// `$XDG_CONFIG_HOME/hub`, or the same in `~/.config`.
pub(super) fn config_folder() -> anyhow::Result<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = set("XDG_CONFIG_HOME").or_else(|| Some(set("HOME")?.join(".config")));
    Ok(folder.context("no home folder: set HOME or XDG_CONFIG_HOME")?.join("hub"))
}
