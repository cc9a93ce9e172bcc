//! Hooks that run after a transaction, even if its caller has gone.

use std::{mem, sync::Arc};

use parking_lot::Mutex;

type Hook = Box<dyn FnOnce() + Send>;

/// Runs its hooks when the last clone is dropped. The transaction's handle has one and the committing task the other,
/// so that they run once the transaction has ended, even if its caller hung up or panicked.
#[derive(Clone, Default)]
pub(crate) struct EndHooks(Arc<Hooks>);

#[derive(Default)]
struct Hooks(Mutex<Vec<Hook>>);

impl EndHooks {
    pub(crate) fn add(&self, hook: impl FnOnce() + Send + 'static) {
        self.0.0.lock().push(Box::new(hook));
    }
}

impl Drop for Hooks {
    fn drop(&mut self) {
        for hook in mem::take(self.0.get_mut()) {
            hook();
        }
    }
}
