//! A body that can be handed to a handler more than once.

use std::io;
use std::pin::pin;
use std::time::Duration;

use axum::body::{Body, Bytes};
use http_body_util::BodyExt as _;
use sha2::{Digest as _, Sha256};
use tokio::fs::File;
use tokio::io::{AsyncSeekExt as _, AsyncWriteExt as _};
use tokio::time::Instant;
use tokio_util::io::ReaderStream;

use crate::http::error::ApiError;
use crate::http::extract::JSON_LIMIT;

/// How fast a large body is read. As fast as it comes, it would keep other networks' calls waiting.
const BYTES_A_SECOND: usize = 20 << 20;
/// How much of it is read without a pause.
const WITHOUT_A_PAUSE: usize = 1 << 20;

/// In memory while it is small, in an unnamed file when it is not.
pub(super) enum Spooled {
    Small(Bytes),
    Large(File),
}

impl Spooled {
    /// Reads the body of at most `most` bytes to its end and puts it into `digest`. A large one waits for its turn and is read
    /// slowly.
    pub(super) async fn read<T>(
        body: Body,
        most: usize,
        digest: &mut Sha256,
        turn: impl Future<Output = T>,
    ) -> Result<Self, ApiError> {
        let unreadable = |error: axum::Error| ApiError::invalid(format!("The body could not be read: {error}."));
        let (mut body, mut small, mut large, mut length) = (body, Vec::new(), None, 0_usize);
        let mut turn = pin!(turn);
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame.map_err(unreadable)?.into_data() else { continue };
            digest.update(&data);
            length = length.saturating_add(data.len());
            if length > most {
                return Err(ApiError::too_large(most));
            }
            if length <= JSON_LIMIT {
                small.extend_from_slice(&data);
                continue;
            }
            let (file, pace, _turn) = if let Some(large) = &mut large {
                large
            } else {
                let turn = turn.as_mut().await;
                let file = begin(&small).await.map_err(ApiError::internal)?;
                large.insert((file, Pace::default(), turn))
            };
            file.write_all(&data).await.map_err(ApiError::internal)?;
            pace.keep(data.len()).await;
        }
        Ok(match large {
            Some((mut file, ..)) => {
                file.flush().await.map_err(ApiError::internal)?;
                Self::Large(file)
            }
            None => Self::Small(small.into()),
        })
    }

    /// The body from its beginning.
    pub(super) async fn body(&self) -> io::Result<Body> {
        Ok(match self {
            Self::Small(bytes) => Body::from(bytes.clone()),
            Self::Large(file) => {
                let mut again = file.try_clone().await?;
                again.rewind().await?;
                Body::from_stream(ReaderStream::new(again))
            }
        })
    }
}

/// Where the pauses are.
struct Pace {
    since: Instant,
    bytes: usize,
    unpaused: usize,
}

impl Default for Pace {
    fn default() -> Self {
        Self { since: Instant::now(), bytes: 0, unpaused: 0 }
    }
}

impl Pace {
    async fn keep(&mut self, bytes: usize) {
        self.bytes += bytes;
        self.unpaused += bytes;
        if self.unpaused >= WITHOUT_A_PAUSE {
            self.unpaused = 0;
            tokio::time::sleep_until(
                self.since + Duration::from_secs(1).mul_f64(self.bytes as f64 / BYTES_A_SECOND as f64),
            )
            .await;
        }
    }
}

async fn begin(so_far: &[u8]) -> io::Result<File> {
    let file = tokio::task::spawn_blocking(tempfile::tempfile).await.map_err(io::Error::other)??;
    let mut file = File::from_std(file);
    file.write_all(so_far).await?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::stream;
    use std::convert::Infallible;
    use std::future::pending;
    use tokio::time::sleep;

    /// How long a body of so many MiB takes whose turn comes then.
    async fn read<T>(mebibytes: usize, turn: impl Future<Output = T>) -> Duration {
        let piece = Bytes::from(vec![7; 1 << 20]);
        let pieces = std::iter::repeat_n(Ok::<_, Infallible>(piece), mebibytes);
        let began = Instant::now();
        let read = Spooled::read(Body::from_stream(stream::iter(pieces)), 64 << 20, &mut Sha256::new(), turn).await;
        assert_eq!(matches!(read.unwrap(), Spooled::Large(_)), mebibytes > 1);
        began.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn a_large_body_waits_for_its_turn_and_is_read_slowly() {
        assert_eq!(read(1, pending::<()>()).await, Duration::ZERO);
        let took = read(41, sleep(Duration::from_secs(3))).await;
        assert!((took.as_secs_f64() - 5.0).abs() < 0.1, "{took:?}");
    }
}
