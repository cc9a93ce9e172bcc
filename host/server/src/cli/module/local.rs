//! Runs a module on this machine, in the hub's engine and under its limits.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use hub_sandbox::build::Symbols;
use hub_sandbox::contract::Point;
use hub_sandbox::test_case::TestCase;
use hub_sandbox::{Limits, ModuleHandle, Sandbox};

use crate::cli::module::build;
use crate::executable::own_executable;
use crate::ids::Ids;
use crate::modules::open_sandbox_in;

/// Timeout of a call on a busy machine.
const WAIT: Duration = Duration::from_mins(1);

/// A module and its test cases.
#[derive(Args, Debug)]
pub(super) struct CaseArgs {
    /// Component, or module folder (built first)
    #[arg(default_value = ".")]
    module: PathBuf,
    /// Test cases [default: cases.json in the module's folder]
    cases: Option<PathBuf>,
    /// Only cases whose name contains this
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
}

/// A module ready to be called.
pub(super) struct LocalModule {
    pub(super) sandbox: Sandbox,
    pub(super) module: ModuleHandle,
    /// File of the component.
    pub(super) file: PathBuf,
    pub(super) bytes: usize,
}

/// A file of test cases.
pub(super) struct CaseFile {
    pub(super) path: PathBuf,
    pub(super) text: String,
    /// Selected cases, with their positions in the file.
    pub(super) cases: Vec<(usize, TestCase)>,
}

impl CaseArgs {
    /// Reads the cases, then builds and opens the module.
    pub(super) async fn open(self) -> anyhow::Result<(LocalModule, CaseFile)> {
        let folder = if self.module.is_dir() { &*self.module } else { self.module.parent().unwrap_or(Path::new("")) };
        let path = self.cases.unwrap_or_else(|| folder.join("cases.json"));
        let path = path.strip_prefix(".").map(Path::to_owned).unwrap_or(path);
        let file = CaseFile::read(path, self.filter.as_deref())?;
        let local = LocalModule::open(self.module).await?;
        for (_, case) in &file.cases {
            local.check_serves(case.point).with_context(|| format!("case `{}`", case.name))?;
        }
        Ok((local, file))
    }
}

impl CaseFile {
    fn read(path: PathBuf, filter: Option<&str>) -> anyhow::Result<Self> {
        let shown = path.display();
        let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {shown}"))?;
        let cases = TestCase::parse_all(&text).with_context(|| shown.to_string())?;
        anyhow::ensure!(!cases.is_empty(), "{shown} has no cases");
        let is_selected = |case: &TestCase| filter.is_none_or(|filter| case.name.contains(filter));
        let cases: Vec<_> = cases.into_iter().enumerate().filter(|(_, case)| is_selected(case)).collect();
        anyhow::ensure!(!cases.is_empty(), "no case name in {shown} matches the filter");
        Ok(Self { path, text, cases })
    }
}

impl LocalModule {
    /// Builds a folder's module first. Compiled code is cached between commands.
    pub(super) async fn open(module: PathBuf) -> anyhow::Result<Self> {
        let file = build_component(module).await?;
        let bytes = std::fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        Self::with(file, bytes).await
    }

    /// Like [`LocalModule::open`], but builds a folder with full debug symbols and writes nothing into it.
    pub(super) async fn open_for_debugging(module: PathBuf) -> anyhow::Result<Self> {
        if !module.is_dir() {
            return Self::open(module).await;
        }
        let compile = move || hub_sandbox::build::compile(&module, Symbols::most(&module)?);
        let built = tokio::task::spawn_blocking(compile).await??;
        Self::with(PathBuf::from(built.name).with_extension("wasm"), built.component).await
    }

    async fn with(file: PathBuf, bytes: Vec<u8>) -> anyhow::Result<Self> {
        let sandbox = open_sandbox_in(&cache_folder()?, own_executable()?, &Ids::System)?;
        let size = bytes.len();
        let module = sandbox.open(bytes).await.with_context(|| format!("{} is not a module", file.display()))?;
        Ok(Self { sandbox, module, file, bytes: size })
    }

    /// Fails unless the module serves the point.
    pub(super) fn check_serves(&self, point: Point) -> anyhow::Result<()> {
        let (serves, file) = (self.points(), self.file.display());
        anyhow::ensure!(self.module.points().contains(&point), "{file} does not serve {point}; it serves {serves}");
        Ok(())
    }

    /// Names of the points it serves.
    pub(super) fn points(&self) -> String {
        self.module.points().iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    }
}

/// Returns the component at a path; a folder is built first.
pub(super) async fn build_component(path: PathBuf) -> anyhow::Result<PathBuf> {
    let path = if path.is_dir() { build::build_module(path, Symbols::Names).await?.1 } else { path };
    Ok(path.strip_prefix(".").map(Path::to_owned).unwrap_or(path))
}

/// Limits of a point, optionally with a different computing time. The deadline is generous: only the author waits.
pub(super) fn limits(point: Point, time: Option<Duration>) -> Limits {
    let limits = Limits::of(point);
    Limits { compute: time.unwrap_or(limits.compute), wait: WAIT, ..limits }
}

/// Cache folder for compiled code.
fn cache_folder() -> anyhow::Result<PathBuf> {
    let configured = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let default = || std::env::home_dir().map(|home| home.join(".cache"));
    Ok(configured.or_else(default).context("no home folder found; set XDG_CACHE_HOME")?.join("network-hub"))
}
