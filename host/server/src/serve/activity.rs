//! Activity of a connection: requests in progress, and the time since the last one.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::{Body, Frame, SizeHint};
use parking_lot::Mutex;
use tokio::time::Instant;

/// Activity of one connection.
#[derive(Clone, Debug)]
pub(super) struct Activity(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    requests: usize,
    idle_since: Instant,
    /// For the first request, and later for the next one.
    timeout: Duration,
    timeout_after: Duration,
}

impl Activity {
    /// Allows `first` for the head of the first request, then `next` of idle time.
    pub(super) fn new(first: Duration, next: Duration) -> Self {
        let state = State { requests: 0, idle_since: Instant::now(), timeout: first, timeout_after: next };
        Self(Arc::new(Mutex::new(state)))
    }

    /// Begins a request, which lasts until its answer is sent.
    pub(super) fn begin(&self) -> ActiveRequest {
        self.0.lock().requests += 1;
        ActiveRequest(self.clone())
    }

    /// The client has read a part of an answer, whose end may still be on its way.
    pub(super) fn note_write(&self) {
        self.0.lock().idle_since = Instant::now();
    }

    /// Waits until the connection has been idle for too long. One timer for the life of the connection: requests only
    /// note the time.
    pub(super) async fn timed_out(&self) {
        loop {
            let deadline = {
                let state = self.0.lock();
                let since = if state.requests > 0 { Instant::now() } else { state.idle_since };
                since + state.timeout
            };
            if deadline <= Instant::now() {
                return;
            }
            tokio::time::sleep_until(deadline).await;
        }
    }

    /// Waits until nothing has happened for this long.
    pub(super) async fn idles(&self, interval: Duration) {
        loop {
            tokio::time::sleep(interval).await;
            let state = self.0.lock();
            if state.requests == 0 && state.idle_since.elapsed() >= interval {
                return;
            }
        }
    }
}

/// A request that is being served.
#[derive(Debug)]
pub(super) struct ActiveRequest(Activity);

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        let mut state = self.0.0.lock();
        state.requests -= 1;
        state.idle_since = Instant::now();
        state.timeout = state.timeout_after;
    }
}

/// Body of an answer, with the request it ends.
pub(super) struct TrackedBody<B> {
    pub(super) body: B,
    pub(super) _request: ActiveRequest,
}

impl<B: Body + Unpin> Body for TrackedBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::{sleep, timeout};

    const FIRST: Duration = Duration::from_secs(30);
    const NEXT: Duration = Duration::from_secs(75);

    #[tokio::test(start_paused = true)]
    async fn idle_connections_time_out_but_streams_do_not() {
        let began = Instant::now();
        Activity::new(FIRST, NEXT).timed_out().await;
        assert_eq!(began.elapsed(), FIRST);

        let activity = Activity::new(FIRST, NEXT);
        let stream = activity.begin();
        sleep(Duration::from_secs(20)).await;
        drop(activity.begin());
        assert!(timeout(Duration::from_hours(1), activity.timed_out()).await.is_err());
        let ended = Instant::now();
        drop(stream);
        activity.timed_out().await;
        assert_eq!(ended.elapsed(), NEXT);
    }
}
