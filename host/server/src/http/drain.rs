//! Reads what a refused caller is still sending, so that it gets to read the refusal.
//!
//! An answer that is given before the body was read would otherwise close the connection while the caller writes, and
//! the system then throws the answer away with a reset.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::header::CONTENT_LENGTH;
use http_body_util::BodyExt as _;
use hyper::body::{Frame, SizeHint};
use tokio::sync::Semaphore;

/// Bodies up to this size are in the connection's buffer anyway.
const SMALL: u64 = 64 * 1024;
/// So much is read and thrown away as fast as it comes …
const AT_ONCE: usize = 1 << 20;
/// … and the rest at this many bytes a second, for as long as [`LONGEST`]: who sends what is refused is not to keep the
/// hub busy.
const BYTES_A_SECOND: f64 = (8 << 20) as f64;
const LONGEST: Duration = Duration::from_secs(10);
/// At so many connections at once. Others are closed, and may not get to read their refusal.
static SLOWLY: Semaphore = Semaphore::const_new(16);

/// The same request; what its handler leaves unread of a large body is read behind its back.
pub(super) fn drained(request: Request) -> Request {
    let length = request.headers().get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if request.body().is_end_stream() || length.is_some_and(|length| length <= SMALL) {
        return request;
    }
    request.map(|body| Body::new(Drained(Some(body))))
}

struct Drained(Option<Body>);

impl HttpBody for Drained {
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

impl Drop for Drained {
    fn drop(&mut self) {
        let Some(mut body) = self.0.take().filter(|body| !body.is_end_stream()) else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(tokio::time::timeout(LONGEST, async move {
            let (mut read, mut slowly) = (0, None);
            while let Some(Ok(frame)) = body.frame().await {
                let bytes = frame.data_ref().map_or(0, Bytes::len);
                read += bytes;
                if read <= AT_ONCE {
                    continue;
                }
                if slowly.is_none() {
                    let Ok(permit) = SLOWLY.try_acquire() else { return };
                    slowly = Some(permit);
                }
                tokio::time::sleep(Duration::from_secs_f64(bytes as f64 / BYTES_A_SECOND)).await;
            }
        }));
    }
}
