//! Reads the rest of a refused request's body, so that the caller receives the refusal.
//!
//! A response sent before the body was read closes the connection while the caller still writes; the system then resets it
//! and discards the response.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::header::CONTENT_LENGTH;
use http_body_util::BodyExt as _;
use hyper::body::{Frame, SizeHint};
use tokio::sync::Semaphore;

/// Bodies up to this size fit into the connection's buffer.
const BUFFERED: u64 = 64 * 1024;
/// Bytes discarded without a limit on their rate.
const UNTHROTTLED: usize = 1 << 20;
/// The rate of the rest, so that a refused caller does not keep the hub busy.
const BYTES_PER_SECOND: f64 = (8 << 20) as f64;
const TIMEOUT: Duration = Duration::from_secs(10);
/// The connections throttled at once. Others are closed, and may not receive their refusal.
static THROTTLED: Semaphore = Semaphore::const_new(16);

/// Makes the rest of a large body be read when the handler drops it.
pub(super) fn drain_on_drop(request: Request) -> Request {
    let length = request.headers().get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if request.body().is_end_stream() || length.is_some_and(|length| length <= BUFFERED) {
        return request;
    }
    request.map(|body| Body::new(DrainedOnDrop(Some(body))))
}

struct DrainedOnDrop(Option<Body>);

impl HttpBody for DrainedOnDrop {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        match &mut self.0 {
            Some(body) => Pin::new(body).poll_frame(context),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.0.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.0.as_ref().map_or_else(SizeHint::default, HttpBody::size_hint)
    }
}

impl Drop for DrainedOnDrop {
    fn drop(&mut self) {
        let Some(mut body) = self.0.take().filter(|body| !body.is_end_stream()) else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(tokio::time::timeout(TIMEOUT, async move {
            let (mut read, mut permit) = (0, None);
            while let Some(Ok(frame)) = body.frame().await {
                let bytes = frame.data_ref().map_or(0, Bytes::len);
                read += bytes;
                if read <= UNTHROTTLED {
                    continue;
                }
                if permit.is_none() {
                    let Ok(acquired) = THROTTLED.try_acquire() else { return };
                    permit = Some(acquired);
                }
                tokio::time::sleep(Duration::from_secs_f64(bytes as f64 / BYTES_PER_SECOND)).await;
            }
        }));
    }
}
