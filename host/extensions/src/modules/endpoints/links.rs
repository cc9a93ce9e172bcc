//! Links of the point `endpoints`: what their manifests list, and what they are granted.

use hub_sandbox::contract::Point;
use hub_sandbox::manifest::Manifest;

use super::secrets;
use crate::app::App;
use crate::modules::model::LinkSpec;
use crate::modules::service::ModulesError;
use crate::modules::store::versions;
use crate::values::NetworkId;

/// Endpoints of a network.
const MAX_ENDPOINTS: usize = 256;

/// Checks each link against the manifest of its version.
pub(in crate::modules) async fn check(app: &App, network: NetworkId, specs: &[LinkSpec]) -> Result<(), ModulesError> {
    let mut count = 0;
    for (at, spec) in specs.iter().enumerate() {
        let row = versions::find(&app.db, network, &spec.name, spec.version).await?;
        let row = row.ok_or_else(|| ModulesError::UnknownVersion(spec.name.clone(), spec.version))?;
        let manifest = row.manifest.as_deref().map(|text| Manifest::parse(text.as_bytes())).transpose();
        let manifest = manifest.map_err(|invalid| ModulesError::InvalidModule(format!("its manifest: {invalid}")))?;
        let Some(manifest) = manifest.filter(|manifest| !manifest.endpoints.is_empty()) else {
            return Err(ModulesError::PointNotOffered(spec.name.clone(), spec.version, Point::Endpoints));
        };
        if let Err(invalid) = manifest.check_config(&serde_json::to_string(&spec.config)?) {
            let (path, reason) = (invalid.pointer, invalid.reason);
            return Err(ModulesError::InvalidConfig { at: Some(at), path, reason });
        }
        let mut needs = manifest.needs;
        let signed = manifest.endpoints.iter().filter_map(|endpoint| Some(endpoint.signature.as_ref()?.secret()));
        let signed: Vec<_> = signed.map(str::to_owned).collect();
        needs.secrets.extend(signed);
        needs.secrets.sort();
        needs.secrets.dedup();
        let granted = spec.grants.clone().unwrap_or_default();
        if let Some(needed) = needs.missing_in(&granted) {
            let (name, version, needed) = (spec.name.clone(), spec.version, Box::new(needed));
            return Err(ModulesError::GrantNeeded { name, version, needed });
        }
        for secret in &needs.secrets {
            if !secrets::is_set(app, network, secret).await? {
                return Err(ModulesError::SecretMissing(secret.clone()));
            }
        }
        count += manifest.endpoints.len();
    }
    if count > MAX_ENDPOINTS {
        let message = format!("modules`: they have {count} endpoints, and a network has at most {MAX_ENDPOINTS}");
        return Err(ModulesError::InvalidChain(message));
    }
    Ok(())
}
