//! Links of chains: modules that are loaded and ready for calls.

use std::sync::Arc;

use bytes::Bytes;
use hub_sandbox::contract::Point;
use hub_sandbox::{BoxFuture, ComponentSource, Host, Link, LinkConfig, ModuleHandle, Sha256Sum};

use crate::app::App;
use crate::blobs::Blobs;
use crate::modules::Modules;
use crate::modules::host::{DryHost, ModuleHost};
use crate::modules::limits::ModuleLimits;
use crate::modules::model::{Instances, LinkSpec, Mode, ModuleState};
use crate::modules::service::error::ModulesError;
use crate::modules::service::storing::read_component;
use crate::modules::store::versions::{self, VersionRef};
use crate::values::NetworkId;

/// Links of the previous chain, each reusable once, with its breaker and statistics.
pub(in crate::modules) struct ReusableLinks(Vec<(LinkSpec, Arc<Link>)>);

impl ReusableLinks {
    pub(in crate::modules) fn new<'a>(links: impl Iterator<Item = (&'a LinkSpec, Option<&'a Arc<Link>>)>) -> Self {
        Self(links.filter_map(|(spec, link)| Some((spec.clone(), Arc::clone(link?)))).collect())
    }

    fn take(&mut self, spec: &LinkSpec) -> Option<Arc<Link>> {
        let at = self.0.iter().position(|(reusable, _)| reusable == spec)?;
        Some(self.0.swap_remove(at).1)
    }
}

/// Reuses a link of the previous chain, or creates a new one.
pub(in crate::modules) async fn reuse_or_make(
    app: &App,
    network: NetworkId,
    point: Point,
    spec: &LinkSpec,
    reusable: &mut ReusableLinks,
) -> Result<Arc<Link>, ModulesError> {
    if let Some(link) = reusable.take(spec) {
        return Ok(link);
    }
    let host: Arc<dyn Host> = match spec.mode {
        Mode::Active | Mode::Canary => Arc::new(ModuleHost::new(app, network, &spec.name)),
        Mode::Shadow => Arc::new(DryHost::new(app, network, &spec.name)),
    };
    make(app, network, point, spec, host).await
}

/// Creates a link whose writes are discarded, for one call.
pub(in crate::modules) async fn make_dry(
    app: &App,
    network: NetworkId,
    point: Point,
    spec: &LinkSpec,
) -> Result<Arc<Link>, ModulesError> {
    let spec = LinkSpec { instances: Instances::Fresh, ..spec.clone() };
    make(app, network, point, &spec, Arc::new(DryHost::new(app, network, &spec.name))).await
}

async fn make(
    app: &App,
    network: NetworkId,
    point: Point,
    spec: &LinkSpec,
    host: Arc<dyn Host>,
) -> Result<Arc<Link>, ModulesError> {
    Ok(Arc::new(Link::new(LinkConfig {
        module: load_module(app, network, point, &spec.name, spec.version).await?,
        name: spec.name.clone(),
        version: u64::try_from(spec.version).unwrap_or(0),
        config: serde_json::to_string(&spec.config)?,
        mode: spec.sandbox_mode(),
        instances: spec.instances.into(),
        on_failure: spec.on_failure.unwrap_or_default().into(),
        limits: ModuleLimits::of(app, network).await?.of_link(point, spec.limits.as_ref()),
        host,
    })))
}

/// Loads a READY module that serves the point.
pub(in crate::modules) async fn load_module(
    app: &App,
    network: NetworkId,
    point: Point,
    name: &str,
    version: i64,
) -> Result<ModuleHandle, ModulesError> {
    let row = versions::find(&app.db, network, name, version).await?;
    let row = row.ok_or_else(|| ModulesError::UnknownVersion(name.to_owned(), version))?;
    let id = row.component_id.as_deref().and_then(Sha256Sum::from_hex);
    let (ModuleState::Ready, Some(id)) = (row.state, id) else {
        return Err(ModulesError::NotReady(name.to_owned(), version));
    };
    if !row.points.0.contains(&point) {
        return Err(ModulesError::PointNotOffered(name.to_owned(), version, point));
    }
    let source = Arc::new(StoredComponent {
        db: app.db.clone(),
        blobs: app.state::<Blobs>().clone(),
        network,
        name: name.to_owned(),
        version,
    });
    Ok(app.state::<Modules>().sandbox.load(id, source).await?)
}

/// Reads a module's bytes when this node's compiled code is gone.
struct StoredComponent {
    db: hub_db::Db,
    blobs: Blobs,
    network: NetworkId,
    name: String,
    version: i64,
}

impl ComponentSource for StoredComponent {
    fn component(&self) -> BoxFuture<'_, Result<Bytes, String>> {
        Box::pin(async move {
            let version = VersionRef { network: self.network, name: &self.name, version: self.version };
            let found = read_component(&self.db, &self.blobs, version).await.map_err(|error| error.to_string())?;
            found.ok_or_else(|| "its bytes are not stored".to_owned())
        })
    }

    fn network(&self) -> String {
        self.network.to_string()
    }
}
