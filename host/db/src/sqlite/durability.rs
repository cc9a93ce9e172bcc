//! Durability of writes, and its cost.

use std::time::Duration;

use sqlx::sqlite::SqliteSynchronous;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durability {
    /// Acknowledged writes survive a power cut: each commit waits for the disk, and many share it.
    Full,
    /// Acknowledged writes survive a kill of the process; a power cut may lose the latest ones. No commit waits for the
    /// disk, so batching gains nothing.
    Relaxed,
}

impl Durability {
    pub(super) fn synchronous(self) -> SqliteSynchronous {
        match self {
            Self::Full => SqliteSynchronous::Full,
            Self::Relaxed => SqliteSynchronous::Normal,
        }
    }

    /// Time for which a batch of the writer accepts further jobs: the first of them waits for the last.
    pub(super) fn max_batch(self) -> Duration {
        match self {
            Self::Full => Duration::from_millis(10),
            Self::Relaxed => Duration::from_millis(1),
        }
    }

    /// Size of the write-ahead log, in pages, at which the writer checkpoints it.
    pub(super) fn checkpoint_pages(self) -> &'static str {
        match self {
            // 1 MiB. The writing caller waits for it: with 4 MiB four times as long, and as much is written in total.
            Self::Full => "250",
            // 64 MiB: only used if the checkpointer does not keep up.
            Self::Relaxed => "16000",
        }
    }
}
