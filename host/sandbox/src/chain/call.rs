//! Parameters of one run of a chain.

use crate::contract::CallContext;

/// Identity of one run of a chain. Each module's context is derived from it.
#[derive(Clone, Debug)]
pub struct Call {
    /// Its id in records and logs.
    pub call_id: String,
    /// The network.
    pub network_id: String,
    /// Time in milliseconds since the Unix epoch. Breakers use it too.
    pub now_ms: u64,
    /// A random number for the modules to derive theirs from.
    pub seed: u64,
}

impl Call {
    /// The context of a module with this configuration.
    pub(super) fn context(&self, config: &str, version: u64) -> CallContext {
        CallContext {
            version: u32::try_from(version).unwrap_or(u32::MAX),
            root_id: self.call_id.clone(),
            call_id: self.call_id.clone(),
            network_id: self.network_id.clone(),
            now_ms: self.now_ms,
            seed: self.seed,
            config: config.to_owned(),
            ..CallContext::default()
        }
    }
}
