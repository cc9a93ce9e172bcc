//! What modules may ask the hub: answered by the rooms' services, each time for one network and one module only.

use std::collections::HashMap;

use hub_sandbox::contract::HostError;
use hub_sandbox::contract::players::PermissionState;
use hub_sandbox::{BoxFuture, Host, HostAnswer, HostCall};
use parking_lot::Mutex;

use crate::app::{App, WeakApp};
use crate::modules::service::key_value as store;
use crate::modules::store::key_value::Owner;
use crate::values::NetworkId;

/// Answers one module of one network.
pub(super) struct ModuleHost {
    /// The hub holds its chains, which hold this.
    app: WeakApp,
    network: NetworkId,
    module: String,
}

impl ModuleHost {
    pub(super) fn new(app: &App, network: NetworkId, module: &str) -> Self {
        Self { app: app.downgrade(), network, module: module.to_owned() }
    }

    async fn ask(&self, call: &HostCall) -> Result<HostAnswer, HostError> {
        let app = self.app.upgrade().ok_or(HostError::Unavailable)?;
        let of = Owner { network: self.network, module: &self.module };
        Ok(match call {
            HostCall::StoreGet { key } => HostAnswer::Value(store::get(&app, of, key).await?),
            HostCall::StoreSet { key, value, ttl_ms } => {
                store::set(&app, of, key, value, *ttl_ms).await?;
                HostAnswer::Done
            }
            HostCall::StoreIncrement { key, by, ttl_ms } => {
                HostAnswer::Number(store::increment(&app, of, key, *by, *ttl_ms).await?)
            }
            HostCall::StoreDelete { key } => HostAnswer::Deleted(store::delete(&app, of, key).await?),
            HostCall::Punishments { .. } => HostAnswer::Punishments(vec![]),
            HostCall::Online { .. } => HostAnswer::Online(None),
            HostCall::PlayersOn { .. } => HostAnswer::Players(vec![]),
            // As in a network where nobody has a statistic, a balance or a permission.
            HostCall::Statistics { players, .. } => HostAnswer::Statistics(vec![None; players.len()]),
            HostCall::Balance { .. } => HostAnswer::Balance(None),
            HostCall::Permission { .. } => HostAnswer::Permission(PermissionState::Undefined),
        })
    }
}

impl Host for ModuleHost {
    fn answer<'a>(&'a self, call: &'a HostCall) -> BoxFuture<'a, Result<HostAnswer, HostError>> {
        Box::pin(self.ask(call))
    }
}

/// Reads as [`ModuleHost`] does and keeps what is written to itself, so that a dry run leaves no trace.
pub(super) struct DryHost {
    host: ModuleHost,
    /// What was written; none for a key that was deleted.
    written: Mutex<HashMap<String, Option<String>>>,
}

impl DryHost {
    pub(super) fn new(app: &App, network: NetworkId, module: &str) -> Self {
        Self { host: ModuleHost::new(app, network, module), written: Mutex::default() }
    }

    async fn read(&self, key: &str) -> Result<Option<String>, HostError> {
        if let Some(value) = self.written.lock().get(key) {
            return Ok(value.clone());
        }
        match self.host.ask(&HostCall::StoreGet { key: key.to_owned() }).await? {
            HostAnswer::Value(value) => Ok(value),
            _ => Err(HostError::Unavailable),
        }
    }

    fn write(&self, key: &str, value: Option<String>) {
        self.written.lock().insert(key.to_owned(), value);
    }

    async fn ask(&self, call: &HostCall) -> Result<HostAnswer, HostError> {
        Ok(match call {
            HostCall::StoreGet { key } => HostAnswer::Value(self.read(key).await?),
            HostCall::StoreSet { key, value, .. } => {
                self.write(key, Some(value.clone()));
                HostAnswer::Done
            }
            HostCall::StoreIncrement { key, by, .. } => {
                let sum = store::sum(self.read(key).await?.as_deref(), *by)?;
                self.write(key, Some(sum.to_string()));
                HostAnswer::Number(sum)
            }
            HostCall::StoreDelete { key } => {
                let existed = self.read(key).await?.is_some();
                self.write(key, None);
                HostAnswer::Deleted(existed)
            }
            _ => self.host.ask(call).await?,
        })
    }
}

impl Host for DryHost {
    fn answer<'a>(&'a self, call: &'a HostCall) -> BoxFuture<'a, Result<HostAnswer, HostError>> {
        Box::pin(self.ask(call))
    }
}
