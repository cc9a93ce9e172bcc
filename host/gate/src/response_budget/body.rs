//! Body of a large response.

use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::response_budget::AnswerPermit;

/// Size of a chunk handed to the connection. Chunks are copies: a slice would keep the whole response in memory until
/// the client reads it, and neither its permit nor its time limit would end.
const CHUNK: usize = 64 * 1024;

/// Response body that holds its memory reservation until the last chunk is handed over.
#[derive(Debug)]
pub(super) struct UnsentBody(Arc<Mutex<State>>);

#[derive(Debug)]
enum State {
    Unsent(Answer),
    /// The client took too long.
    GivenUp,
    Sent,
}

#[derive(Debug)]
struct Answer {
    bytes: Bytes,
    _permit: AnswerPermit,
    /// Dropped with the response, which ends the [`Watch`].
    _watched: oneshot::Sender<()>,
}

/// Limits the time to send a response.
#[derive(Debug)]
pub(super) struct Watch {
    state: Weak<Mutex<State>>,
    ended: oneshot::Receiver<()>,
}

/// Error: the client took too long to read a response.
#[derive(Debug, thiserror::Error)]
#[error("the client did not read the response in time")]
struct NotRead;

impl UnsentBody {
    pub(super) fn new(bytes: Bytes, permit: AnswerPermit) -> (Self, Watch) {
        let (watched, ended) = oneshot::channel();
        let state = State::Unsent(Answer { bytes, _permit: permit, _watched: watched });
        let state = Arc::new(Mutex::new(state));
        let watch = Watch { state: Arc::downgrade(&state), ended };
        (Self(state), watch)
    }
}

impl Watch {
    /// Drops the response if it is not sent within `limit`. A connection that is stuck in a write does not notice: it
    /// has its own time limit.
    pub(super) async fn give_up_after(self, limit: Duration) {
        if timeout(limit, self.ended).await.is_ok() {
            return;
        }
        if let Some(state) = self.state.upgrade() {
            let mut state = state.lock();
            if matches!(*state, State::Unsent(_)) {
                *state = State::GivenUp;
            }
        }
    }
}

impl HttpBody for UnsentBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let mut state = self.0.lock();
        Poll::Ready(match &mut *state {
            State::Unsent(Answer { bytes, .. }) => {
                let chunk = Bytes::copy_from_slice(&bytes.split_to(bytes.len().min(CHUNK)));
                if bytes.is_empty() {
                    *state = State::Sent;
                }
                Some(Ok(Frame::data(chunk)))
            }
            State::GivenUp => Some(Err(axum::Error::new(NotRead))),
            State::Sent => None,
        })
    }

    fn is_end_stream(&self) -> bool {
        matches!(*self.0.lock(), State::Sent)
    }

    fn size_hint(&self) -> SizeHint {
        match &*self.0.lock() {
            State::Unsent(Answer { bytes, .. }) => SizeHint::with_exact(bytes.len() as u64),
            State::GivenUp => SizeHint::default(),
            State::Sent => SizeHint::with_exact(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;
    use tokio::time::{Instant, sleep};
    use uuid::Uuid;

    use super::*;
    use crate::response_budget::ResponseBudget;
    use crate::values::NetworkId;

    const SIZE: usize = 5 * CHUNK / 2;
    const LIMIT: Duration = Duration::from_mins(1);

    fn is_free(memory: &ResponseBudget) -> bool {
        memory.try_reserve(NetworkId(Uuid::nil()), SIZE, SIZE).is_some()
    }

    fn bytes() -> Vec<u8> {
        (0..=250).cycle().take(SIZE).collect()
    }

    fn answer(memory: &ResponseBudget) -> (UnsentBody, Watch) {
        let permit = memory.try_reserve(NetworkId(Uuid::nil()), SIZE, SIZE).unwrap();
        UnsentBody::new(bytes().into(), permit)
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_holds_its_memory_until_it_is_handed_over() {
        let memory = ResponseBudget::default();
        let (mut body, watch) = answer(&memory);
        let watching = tokio::spawn(watch.give_up_after(LIMIT));
        let mut sent = vec![];
        for left in [SIZE - CHUNK, SIZE - 2 * CHUNK] {
            assert!(!is_free(&memory) && !body.is_end_stream());
            sent.extend_from_slice(&body.frame().await.unwrap().unwrap().into_data().unwrap());
            assert_eq!(body.size_hint().exact(), Some(left as u64));
        }
        sent.extend_from_slice(&body.frame().await.unwrap().unwrap().into_data().unwrap());
        assert!(is_free(&memory) && body.is_end_stream() && body.frame().await.is_none());
        assert!(sent == bytes());
        let began = Instant::now();
        watching.await.unwrap();
        assert_eq!(began.elapsed(), Duration::ZERO, "nothing is watched afterwards");
        // A dropped response leaves nothing behind either.
        drop(answer(&memory));
        assert!(is_free(&memory));
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_is_not_read_in_time_is_dropped() {
        let memory = ResponseBudget::default();
        let (mut body, watch) = answer(&memory);
        tokio::spawn(watch.give_up_after(LIMIT));
        assert!(body.frame().await.unwrap().is_ok());
        sleep(LIMIT - Duration::from_millis(2)).await;
        assert!(!is_free(&memory));
        sleep(Duration::from_millis(4)).await;
        assert!(is_free(&memory), "the connection holds only a copy");
        assert!(body.frame().await.unwrap().is_err() && !body.is_end_stream());
    }
}
