//! What survives and what that costs.

use std::time::Duration;

use sqlx::sqlite::SqliteSynchronous;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durability {
    /// What is acknowledged survives a power cut: each commit waits for the disk, and many share it.
    Full,
    /// What is acknowledged survives a kill of the process; a power cut may lose the latest of it. No commit waits for
    /// the disk, so that there is nothing to share by waiting for others.
    Relaxed,
}

impl Durability {
    pub(super) fn synchronous(self) -> SqliteSynchronous {
        match self {
            Self::Full => SqliteSynchronous::Full,
            Self::Relaxed => SqliteSynchronous::Normal,
        }
    }

    /// How long a batch of the writer accepts further jobs: the first of them waits for the last.
    pub(super) fn max_batch(self) -> Duration {
        match self {
            Self::Full => Duration::from_millis(10),
            Self::Relaxed => Duration::from_millis(1),
        }
    }

    /// Pages of the write-ahead log at which the writer checkpoints it.
    pub(super) fn checkpoint_pages(self) -> &'static str {
        match self {
            // 1 MiB. The writing caller waits for it: with 4 MiB four times as long, and as much is written in total.
            Self::Full => "250",
            // 64 MiB: only where the checkpointer does not keep up.
            Self::Relaxed => "16000",
        }
    }
}
