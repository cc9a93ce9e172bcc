//! Request bodies for handlers: with a time limit, and with the unread rest of refused requests consumed.
//!
//! hyper closes a connection whose request body was not read to its end, without announcing it in the response. So a
//! small rest is read and discarded, and the connection serves the next request; otherwise the response contains
//! `Connection: close`.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::header::{CONNECTION, CONTENT_LENGTH, EXPECT};
use axum::http::{HeaderValue, Version};
use axum::response::Response;
use http_body_util::BodyExt as _;
use hyper::body::{Frame, SizeHint};
use parking_lot::Mutex;
use tokio::time::{Instant, Sleep};

/// Maximum rest of a body that is read to keep its connection.
const LARGEST_REST: u64 = 64 * 1024;
/// Time for a rest of known size. The response is sent meanwhile.
const REST_TIMEOUT: Duration = Duration::from_secs(10);
/// Time for a rest of unknown size, for which the response waits.
const UNKNOWN_REST_TIMEOUT: Duration = Duration::from_secs(1);
/// Received bytes per additional second, so that a large body may take its time but none lasts forever.
const BYTES_PER_SECOND: u64 = 32 * 1024;

/// Reading progress, shared by the outermost layer and the body.
#[derive(Default)]
struct Progress {
    bytes_read: u64,
    was_polled: bool,
    end: Option<End>,
    is_answered: bool,
    /// Body dropped before its end, until the response.
    rest: Option<Body>,
}

/// Result of reading a body.
#[derive(Clone, Copy, PartialEq)]
enum End {
    /// The body is complete.
    Over,
    TimedOut,
}

/// Follows the reading of a request's body until the response.
pub(super) struct BodyWatch {
    progress: Arc<Mutex<Progress>>,
    announced: Option<u64>,
    expects_continue: bool,
    version: Version,
}

/// Limits a request's body, if any. `timeout` is the maximum waiting time for the client, in addition to the time for
/// the body's size.
pub(super) fn watch(request: Request, timeout: Duration) -> (Request, Option<BodyWatch>) {
    if request.body().is_end_stream() {
        return (request, None);
    }
    let announced = request.headers().get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    let progress = Arc::<Mutex<Progress>>::default();
    let watch = BodyWatch {
        progress: Arc::clone(&progress),
        announced,
        expects_continue: request.headers().contains_key(EXPECT),
        version: request.version(),
    };
    let body = |body| Body::new(WatchedBody { body: Some(body), announced, progress, wait: Wait::new(timeout) });
    (request.map(body), Some(watch))
}

impl BodyWatch {
    /// True if the client took too long.
    pub(super) fn has_timed_out(&self) -> bool {
        self.progress.lock().end == Some(End::TimedOut)
    }

    /// Handles the unread rest of an answered request.
    pub(super) async fn settle(self, response: &mut Response) {
        let (rest, unread, was_polled) = {
            let mut progress = self.progress.lock();
            if progress.end == Some(End::Over) {
                return;
            }
            progress.is_answered = true;
            let unread = self.announced.map(|announced| announced.saturating_sub(progress.bytes_read));
            // After a timeout there is nothing to wait for.
            let unread = if progress.end.is_some() { Some(u64::MAX) } else { unread };
            (progress.rest.take(), unread, progress.was_polled)
        };
        // Without a `100 Continue`, the client may never send the body.
        let may_come = was_polled || !self.expects_continue;
        let is_read = match (unread, rest) {
            (Some(unread), rest) if unread <= LARGEST_REST && may_come => {
                // If a task still reads it, the rest is read when it is dropped.
                if let Some(rest) = rest {
                    tokio::spawn(read_rest(rest, REST_TIMEOUT));
                }
                true
            }
            (None, Some(rest)) if may_come => read_rest(rest, UNKNOWN_REST_TIMEOUT).await,
            _ => false,
        };
        // HTTP/2 ends only the stream.
        if !is_read && self.version < Version::HTTP_2 {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
    }
}

/// Reads a small rest. True if that was all.
async fn read_rest(mut rest: Body, timeout: Duration) -> bool {
    let reading = async {
        let mut bytes = 0;
        while bytes <= LARGEST_REST {
            match rest.frame().await {
                None => return true,
                Some(Ok(frame)) => bytes += frame.data_ref().map_or(0, Bytes::len) as u64,
                Some(Err(_)) => return false,
            }
        }
        false
    };
    tokio::time::timeout(timeout, reading).await.unwrap_or(false)
}

struct WatchedBody {
    body: Option<Body>,
    announced: Option<u64>,
    progress: Arc<Mutex<Progress>>,
    wait: Wait,
}

/// Error: the client took too long to send a body.
#[derive(Debug, thiserror::Error)]
#[error("it was not received in time")]
struct BodyTimeout;

impl HttpBody for WatchedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = &mut *self;
        let Some(body) = &mut this.body else { return Poll::Ready(None) };
        let polled = Pin::new(body).poll_frame(context);
        let mut progress = this.progress.lock();
        progress.was_polled = true;
        match &polled {
            Poll::Ready(Some(Ok(frame))) => {
                progress.bytes_read += frame.data_ref().map_or(0, Bytes::len) as u64;
                this.wait.end();
            }
            // A broken body has no rest.
            Poll::Ready(Some(Err(_)) | None) => progress.end = Some(End::Over),
            Poll::Pending if this.wait.poll_timeout(context, progress.bytes_read).is_ready() => {
                progress.end = Some(End::TimedOut);
                return Poll::Ready(Some(Err(axum::Error::new(BodyTimeout))));
            }
            Poll::Pending => {}
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(SizeHint::default, HttpBody::size_hint)
    }
}

impl Drop for WatchedBody {
    fn drop(&mut self) {
        let Some(body) = self.body.take() else { return };
        let mut progress = self.progress.lock();
        if progress.end.is_some() {
            return;
        }
        if body.is_end_stream() {
            progress.end = Some(End::Over);
        } else if !progress.is_answered {
            progress.rest = Some(body);
        } else if self.announced.is_some_and(|size| size.saturating_sub(progress.bytes_read) <= LARGEST_REST)
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            runtime.spawn(read_rest(body, REST_TIMEOUT));
        }
    }
}

/// Waiting time for a client's body. Time that the hub takes between two reads does not count.
struct Wait {
    limit: Duration,
    before: Duration,
    since: Option<Instant>,
    /// Most bodies arrive with their head and need no timer.
    timer: Option<Pin<Box<Sleep>>>,
}

impl Wait {
    fn new(limit: Duration) -> Self {
        Self { limit, before: Duration::ZERO, since: None, timer: None }
    }

    fn end(&mut self) {
        if let Some(since) = self.since.take() {
            self.before += since.elapsed();
        }
    }

    fn poll_timeout(&mut self, context: &mut Context<'_>, bytes_read: u64) -> Poll<()> {
        let since = *self.since.get_or_insert_with(Instant::now);
        let allowed = self.limit + Duration::from_millis(bytes_read * 1000 / BYTES_PER_SECOND);
        let deadline = since + allowed.saturating_sub(self.before);
        let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(deadline)));
        if timer.deadline() != deadline {
            timer.as_mut().reset(deadline);
        }
        timer.as_mut().poll(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::{StreamExt as _, stream};
    use std::convert::Infallible;

    const TIMEOUT: Duration = Duration::from_secs(30);

    /// Body with chunks of this size and these pauses.
    fn dripping(chunk: usize, pause: Duration) -> Body {
        let chunks = stream::repeat(()).then(move |()| async move {
            tokio::time::sleep(pause).await;
            Ok::<_, Infallible>(vec![7; chunk])
        });
        Body::from_stream(chunks)
    }

    async fn read_all(body: Body) -> (Duration, bool) {
        let began = Instant::now();
        let (request, watch) = watch(Request::new(body), TIMEOUT);
        let read = request.into_body().collect().await;
        assert!(read.is_err(), "it has no end");
        (began.elapsed(), watch.unwrap().has_timed_out())
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_has_its_time_and_more_while_it_comes() {
        assert_eq!(read_all(Body::from_stream(stream::pending::<Result<Bytes, Infallible>>())).await, (TIMEOUT, true));
        // One byte per second does not extend the time.
        assert_eq!(read_all(dripping(1, Duration::from_secs(1))).await, (TIMEOUT, true));
        // Half of the minimum rate doubles the time.
        let (time, has_timed_out) = read_all(dripping(16 << 10, Duration::from_secs(1))).await;
        assert!(has_timed_out && (58..=60).contains(&time.as_secs()), "{time:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn the_hubs_own_time_does_not_count() {
        let (request, watch) = watch(Request::new(dripping(1, Duration::from_secs(1))), TIMEOUT);
        let mut body = request.into_body();
        for _ in 0..20 {
            assert!(body.frame().await.unwrap().is_ok());
            tokio::time::sleep(TIMEOUT).await;
        }
        assert!(!watch.unwrap().has_timed_out());
    }

    /// True if the response to a refused request with this body closes the connection.
    async fn closes(body: Body, announced: Option<u64>) -> bool {
        let mut request = Request::new(body);
        if let Some(announced) = announced {
            request.headers_mut().insert(CONTENT_LENGTH, announced.into());
        }
        let (request, watch) = watch(request, TIMEOUT);
        drop(request);
        let mut response = Response::new(Body::empty());
        watch.unwrap().settle(&mut response).await;
        response.headers().contains_key(CONNECTION)
    }

    #[tokio::test(start_paused = true)]
    async fn a_small_rest_is_read_and_a_large_one_closes_the_connection() {
        let whole = |bytes: usize| Body::from_stream(stream::iter([Ok::<_, Infallible>(vec![7; bytes])]));
        assert!(!closes(whole(100), Some(100)).await);
        assert!(!closes(whole(64 << 10), Some(64 << 10)).await);
        assert!(closes(whole(65 << 10), Some(65 << 10)).await);
        // Without a length, within the time for which a response can be delayed.
        assert!(!closes(whole(100), None).await);
        assert!(closes(whole(65 << 10), None).await);
        let began = Instant::now();
        assert!(closes(dripping(1, Duration::from_millis(10)), None).await);
        assert_eq!(began.elapsed(), UNKNOWN_REST_TIMEOUT);
    }
}
