//! One build of a module that has a manifest.

use super::embedded;
use super::error::BuildError;
use super::manifest::{self, Manifest};
use super::seal;
use std::path::{Path, PathBuf};

/// A build's folders, with the contract in place.
pub(super) struct BuildJob<'a> {
    pub(super) folder: &'a Path,
    pub(super) manifest: &'a Manifest,
    /// Interfaces that the module exports.
    pub(super) interfaces: Vec<&'static str>,
    /// For files that are needed during the build only.
    pub(super) work: &'a Path,
}

impl<'a> BuildJob<'a> {
    pub(super) fn new(
        folder: &'a Path,
        manifest: &'a Manifest,
        interfaces: Vec<&'static str>,
        work: &'a Path,
    ) -> Result<Self, BuildError> {
        let job = Self { folder, manifest, interfaces, work };
        let version = manifest::folder(&manifest.contract);
        for (name, content) in embedded::under(&format!("wit/{version}/")) {
            embedded::write(&job.wit().join(name), content)?;
        }
        embedded::write(&job.wit().join("module.wit"), manifest.world(&job.interfaces).as_bytes())?;
        Ok(job)
    }

    /// Interfaces of the module's points that it does not export.
    pub(super) fn absent(&self) -> impl Iterator<Item = &'static str> {
        let all = self.manifest.points.iter().flat_map(|point| point.interfaces());
        all.map(|(name, _)| *name).filter(|name| !self.interfaces.contains(name))
    }

    /// The folder of the contract, with the module's world in it.
    pub(super) fn wit(&self) -> PathBuf {
        self.work.join("wit")
    }
}

/// Reads a component whose language's runtime imports more than the contract, and seals it.
pub(super) fn read_sealed(output: &Path) -> Result<Vec<u8>, BuildError> {
    let component = std::fs::read(output).map_err(|error| BuildError::Io { path: output.into(), error })?;
    seal::seal(&component).map_err(BuildError::Invalid)
}
