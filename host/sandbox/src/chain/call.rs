//! A call that a chain runs for.

use crate::contract::CallContext;

/// What identifies one run of a chain. Each module's context is made from it.
#[derive(Clone, Debug)]
pub struct Call {
    /// Names it in records and logs.
    pub call_id: String,
    /// The network.
    pub network_id: String,
    /// The time, in milliseconds since the Unix epoch. Breakers go by it too.
    pub now_ms: u64,
    /// A random number for the modules to derive theirs from.
    pub seed: u64,
}

impl Call {
    /// The context of a module with this configuration.
    pub(super) fn context(&self, config: &str) -> CallContext {
        CallContext {
            call_id: self.call_id.clone(),
            network_id: self.network_id.clone(),
            now_ms: self.now_ms,
            seed: self.seed,
            config: config.to_owned(),
        }
    }
}
