//! A network's turn to have a module prepared, and how much of the time its uploads may take. Preparing one is work for
//! the system as much as for the compiler: megabytes are copied, processes begin and end; and what the system does for
//! one network makes the others wait, however low its priority. So uploads without a pause soon have only a small share
//! of the time.

use parking_lot::Mutex;
use std::time::Duration;
use tokio::sync::{Mutex as AsyncMutex, MutexGuard};
use tokio::time::Instant;

/// Work that may be done at once, after a while without any.
const AT_ONCE: Duration = Duration::from_secs(2);
/// The share of the time that work may take from then on.
const SHARE: f64 = 0.1;
/// A single piece of work counts as no more: what takes longer is compiling, of which others notice nothing.
const PIECE: Duration = Duration::from_millis(500);
/// Bytes of a network's uploads that come in within a second; storing them counts for nothing more.
const BYTES_A_SECOND: f64 = (20 << 20) as f64;

/// Who of a network comes next.
pub(crate) struct Turns {
    /// Held by the upload whose turn it is.
    uploading: AsyncMutex<()>,
    /// Held by the module that is compiled, so that among those who wait for the compiler there is only one of each
    /// network, and all networks take turns.
    compiling: AsyncMutex<()>,
    allowance: Mutex<Allowance>,
    /// When all that has come in was to have come in.
    received: Mutex<Instant>,
}

/// A turn, until it is dropped.
pub(crate) struct Turn<'a> {
    _compiling: MutexGuard<'a, ()>,
    upload: Option<(MutexGuard<'a, ()>, &'a Mutex<Allowance>)>,
}

impl Turns {
    pub(crate) fn new() -> Self {
        let allowance = Allowance { left: AT_ONCE.as_secs_f64(), at: Instant::now() };
        Self {
            uploading: AsyncMutex::default(),
            compiling: AsyncMutex::default(),
            received: Mutex::new(allowance.at),
            allowance: Mutex::new(allowance),
        }
    }

    /// An upload's, of so many bytes: after those that came before, and once the allowance has something left.
    pub(crate) async fn upload(&self, bytes: usize) -> Turn<'_> {
        let uploading = self.uploading.lock().await;
        self.settled().await;
        self.received(bytes);
        Turn { upload: Some((uploading, &self.allowance)), ..self.load().await }
    }

    /// Ends once the allowance has something left.
    pub(crate) async fn settled(&self) {
        let wait = self.allowance.lock().wait();
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
    }

    /// Takes the receiving of so many bytes off the allowance.
    pub(crate) fn received(&self, bytes: usize) {
        self.allowance.lock().take(bytes as f64 / BYTES_A_SECOND);
    }

    /// How long to wait before more than these bytes is received.
    pub(crate) fn pace(&self, bytes: usize) -> Duration {
        let now = Instant::now();
        let mut received = self.received.lock();
        *received = (*received).max(now) + Duration::from_secs_f64(bytes as f64 / BYTES_A_SECOND);
        *received - now
    }

    /// That of a module that was accepted before. It needs no allowance, for calls may be waiting for it.
    pub(crate) async fn load(&self) -> Turn<'_> {
        Turn { _compiling: self.compiling.lock().await, upload: None }
    }
}

impl Turn<'_> {
    /// Does a piece of the work. It counts also where nobody waits for its end any more.
    pub(crate) async fn work<T>(&self, piece: impl Future<Output = T>) -> T {
        let _meter = self.upload.as_ref().map(|(_, allowance)| Meter { allowance, began: Instant::now() });
        piece.await
    }
}

/// What is left.
struct Allowance {
    /// Seconds of work; below zero where more was done than there was.
    left: f64,
    at: Instant,
}

impl Allowance {
    fn left(&self, now: Instant) -> f64 {
        let since = now.saturating_duration_since(self.at).as_secs_f64();
        (self.left + since * SHARE).min(AT_ONCE.as_secs_f64())
    }

    fn wait(&self) -> Duration {
        Duration::from_secs_f64((-self.left(Instant::now()) / SHARE).max(0.0))
    }

    fn take(&mut self, seconds: f64) {
        let now = Instant::now();
        self.left = self.left(now) - seconds;
        self.at = now;
    }
}

/// Takes the time until it is dropped.
struct Meter<'a> {
    allowance: &'a Mutex<Allowance>,
    began: Instant,
}

impl Drop for Meter<'_> {
    fn drop(&mut self) {
        self.allowance.lock().take(self.began.elapsed().min(PIECE).as_secs_f64());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use tokio::time::{advance, sleep, timeout};

    /// When an upload that works for so long begins, from now.
    async fn upload(turns: &Turns, millis: u64) -> Duration {
        let asked = Instant::now();
        let turn = turns.upload(0).await;
        let waited = asked.elapsed();
        turn.work(sleep(Duration::from_millis(millis))).await;
        waited
    }

    fn about(seconds: f64, waited: Duration) -> bool {
        (waited.as_secs_f64() - seconds).abs() < 0.1
    }

    #[tokio::test(start_paused = true)]
    async fn uploads_without_a_pause_take_a_tenth_of_the_time_and_a_few_come_at_once() {
        let turns = Turns::new();
        for _ in 0..8 {
            assert_eq!(upload(&turns, 250).await, Duration::ZERO);
        }
        // The two seconds that the eight took gave back two tenths of a second.
        assert_eq!(upload(&turns, 250).await, Duration::ZERO);
        for _ in 0..5 {
            let waited = upload(&turns, 250).await;
            assert!(waited > Duration::from_millis(200) && waited < Duration::from_millis(2300), "{waited:?}");
        }
        let began = Instant::now();
        for _ in 0..10 {
            upload(&turns, 250).await;
        }
        assert!(about(25.0, began.elapsed()), "{:?}", began.elapsed());
        advance(Duration::from_mins(1)).await;
        for _ in 0..8 {
            assert_eq!(upload(&turns, 250).await, Duration::ZERO);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_compiles_for_long_counts_for_half_a_second_and_what_was_given_up_as_well() {
        let turns = Turns::new();
        for _ in 0..3 {
            assert!(timeout(Duration::from_millis(600), upload(&turns, 60_000)).await.is_err());
        }
        assert_eq!(upload(&turns, 600).await, Duration::ZERO);
        assert_eq!(upload(&turns, 400).await, Duration::ZERO);
        let waited = upload(&turns, 0).await;
        assert!(waited > Duration::ZERO && waited < Duration::from_secs(4), "{waited:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_large_one_counts_for_its_bytes_too() {
        let turns = Turns::new();
        drop(turns.upload(60 << 20).await);
        let waited = upload(&turns, 0).await;
        assert!(about(10.0, waited), "{waited:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn all_that_comes_in_at_once_shares_the_pace() {
        let turns = Turns::new();
        assert!(about(1.0, turns.pace(20 << 20)));
        assert!(about(1.5, turns.pace(10 << 20)));
        advance(Duration::from_millis(1500)).await;
        assert!(about(0.05, turns.pace(1 << 20)));
        // What was not used is not saved up.
        advance(Duration::from_mins(1)).await;
        assert!(about(1.0, turns.pace(20 << 20)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_load_waits_for_what_is_compiled_and_for_no_allowance() {
        let turns = Turns::new();
        for _ in 0..6 {
            upload(&turns, 500).await;
        }
        let mut next = pin!(upload(&turns, 500));
        assert!(timeout(Duration::from_millis(10), &mut next).await.is_err());
        assert!(timeout(Duration::from_millis(10), turns.load()).await.is_ok());
        let loading = turns.load().await;
        assert!(timeout(Duration::from_mins(1), &mut next).await.is_err());
        drop(loading);
        assert!(timeout(Duration::from_mins(1), next).await.is_ok());
    }
}
