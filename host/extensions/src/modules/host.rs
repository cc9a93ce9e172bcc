//! The host calls of modules, answered for one network and one module: from the module's own store here, from the game's data
//! through [`ModuleData`].

use hub_sandbox::contract::HostError;
use hub_sandbox::{BoxFuture, Host, HostAnswer, HostCall};
use moka::policy::EvictionPolicy;
use moka::sync::Cache;

use crate::app::{App, WeakApp};
use crate::clock::Millis;
use crate::modules::Modules;
use crate::modules::handlers::answer_state;
use crate::modules::service::key_value as store;
use crate::modules::store::key_value::Owner;
use crate::values::NetworkId;

/// Maximum size in bytes of one [`DryHost`]; the least recently used entry is evicted first.
const MAX_DRY_BYTES: u64 = 1 << 20;

/// Answers the host calls that read a network's players.
pub trait ModuleData: Send + Sync {
    /// The answer to a call that is none of the module's own store.
    fn answer<'a>(
        &'a self,
        app: &'a App,
        network: NetworkId,
        call: &'a HostCall,
    ) -> BoxFuture<'a, Result<HostAnswer, HostError>>;
}

/// Host of one module of one network.
pub(super) struct ModuleHost {
    /// Weak, because the app holds the chains, which hold this.
    app: WeakApp,
    network: NetworkId,
    module: String,
}

impl ModuleHost {
    pub(super) fn new(app: &App, network: NetworkId, module: &str) -> Self {
        Self { app: app.downgrade(), network, module: module.to_owned() }
    }

    async fn answer_call(&self, call: &HostCall) -> Result<HostAnswer, HostError> {
        hub_db::with_tenant(self.network.0, self.answer_as_tenant(call)).await
    }

    async fn answer_as_tenant(&self, call: &HostCall) -> Result<HostAnswer, HostError> {
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
            call => match answer_state(&app, self.network, &self.module, call).await {
                Some(answer) => answer?,
                None => app.state::<Modules>().data.answer(&app, self.network, call).await?,
            },
        })
    }
}

impl Host for ModuleHost {
    fn answer<'a>(&'a self, call: &'a HostCall) -> BoxFuture<'a, Result<HostAnswer, HostError>> {
        Box::pin(self.answer_call(call))
    }
}

/// Reads like [`ModuleHost`] and keeps writes to itself, so that dry runs and shadows have no effect.
pub(super) struct DryHost {
    host: ModuleHost,
    overlay: Cache<String, OverlayEntry>,
    /// Held during an increment.
    incrementing: tokio::sync::Mutex<()>,
}

#[derive(Clone)]
struct OverlayEntry {
    /// None for a deleted key.
    value: Option<String>,
    expires_at: Option<Millis>,
}

impl DryHost {
    pub(super) fn new(app: &App, network: NetworkId, module: &str) -> Self {
        let weigh = |key: &String, entry: &OverlayEntry| {
            let bytes = key.len() + entry.value.as_ref().map_or(0, String::len) + size_of::<OverlayEntry>();
            u32::try_from(bytes).unwrap_or(u32::MAX)
        };
        let overlay =
            Cache::builder().max_capacity(MAX_DRY_BYTES).weigher(weigh).eviction_policy(EvictionPolicy::lru()).build();
        Self { host: ModuleHost::new(app, network, module), overlay, incrementing: tokio::sync::Mutex::default() }
    }

    fn now(&self) -> Result<Millis, HostError> {
        Ok(self.host.app.upgrade().ok_or(HostError::Unavailable)?.clock.now())
    }

    async fn read(&self, key: &str) -> Result<Option<OverlayEntry>, HostError> {
        let now = self.now()?;
        if let Some(entry) = self.overlay.get(key) {
            let live = entry.value.is_some() && entry.expires_at.is_none_or(|at| at > now);
            return Ok(Some(entry).filter(|_| live));
        }
        match self.host.answer_call(&HostCall::StoreGet { key: key.to_owned() }).await? {
            HostAnswer::Value(value) => Ok(value.map(|value| OverlayEntry { value: Some(value), expires_at: None })),
            _ => Err(HostError::Unavailable),
        }
    }

    fn write(&self, key: &str, value: Option<String>, expires_at: Option<Millis>) {
        self.overlay.insert(key.to_owned(), OverlayEntry { value, expires_at });
    }

    async fn answer_call(&self, call: &HostCall) -> Result<HostAnswer, HostError> {
        let expiry = |ttl_ms: &Option<u64>| Ok::<_, HostError>(store::expiry(self.now()?, *ttl_ms));
        Ok(match call {
            HostCall::StoreGet { key } => HostAnswer::Value(self.read(key).await?.and_then(|it| it.value)),
            HostCall::StoreSet { key, value, ttl_ms } => {
                self.write(key, Some(value.clone()), expiry(ttl_ms)?);
                HostAnswer::Done
            }
            HostCall::StoreIncrement { key, by, ttl_ms } => {
                let _incrementing = self.incrementing.lock().await;
                let before = self.read(key).await?;
                let expires_at = before.as_ref().map_or_else(|| expiry(ttl_ms), |before| Ok(before.expires_at))?;
                let sum = store::sum(before.and_then(|it| it.value).as_deref(), *by)?;
                self.write(key, Some(sum.to_string()), expires_at);
                HostAnswer::Number(sum)
            }
            HostCall::StoreDelete { key } => {
                let existed = self.read(key).await?.is_some();
                self.write(key, None, None);
                HostAnswer::Deleted(existed)
            }
            _ => self.host.answer_call(call).await?,
        })
    }
}

impl Host for DryHost {
    fn answer<'a>(&'a self, call: &'a HostCall) -> BoxFuture<'a, Result<HostAnswer, HostError>> {
        Box::pin(self.answer_call(call))
    }
}
