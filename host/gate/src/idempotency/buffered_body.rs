//! A request body that can be read more than once.

use std::io;
use std::pin::pin;

use axum::body::{Body, Bytes};
use http_body_util::BodyExt as _;
use sha2::{Digest as _, Sha256};
use tokio::fs::File;
use tokio::io::{AsyncSeekExt as _, AsyncWriteExt as _};
use tokio_util::io::ReaderStream;

use crate::http::error::ApiError;
use crate::http::extract::JSON_LIMIT;

/// Stored in memory if it is small, else in an unnamed file.
pub(super) enum BufferedBody {
    Memory(Bytes),
    File(File),
}

impl BufferedBody {
    /// Reads a body of at most `limit` bytes and adds it to `digest`. A large one waits for `permit`, which is held
    /// until the end.
    pub(super) async fn read<T>(
        body: Body,
        limit: usize,
        digest: &mut Sha256,
        permit: impl Future<Output = T>,
    ) -> Result<Self, ApiError> {
        let unreadable = |error: axum::Error| ApiError::invalid(format!("Could not read the body: {error}."));
        let (mut body, mut small, mut large, mut length) = (body, Vec::new(), None, 0_usize);
        let mut permit = pin!(permit);
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame.map_err(unreadable)?.into_data() else { continue };
            digest.update(&data);
            length = length.saturating_add(data.len());
            if length > limit {
                return Err(ApiError::too_large(limit));
            }
            if length <= JSON_LIMIT {
                small.extend_from_slice(&data);
                continue;
            }
            let (file, _permit) = if let Some(large) = &mut large {
                large
            } else {
                let permit = permit.as_mut().await;
                let file = create_file(&small).await.map_err(ApiError::internal)?;
                large.insert((file, permit))
            };
            file.write_all(&data).await.map_err(ApiError::internal)?;
        }
        Ok(match large {
            Some((mut file, _)) => {
                file.flush().await.map_err(ApiError::internal)?;
                Self::File(file)
            }
            None => Self::Memory(small.into()),
        })
    }

    /// Returns the body from its start.
    pub(super) async fn body(&self) -> io::Result<Body> {
        Ok(match self {
            Self::Memory(bytes) => Body::from(bytes.clone()),
            Self::File(file) => {
                let mut copy = file.try_clone().await?;
                copy.rewind().await?;
                Body::from_stream(ReaderStream::new(copy))
            }
        })
    }
}

async fn create_file(so_far: &[u8]) -> io::Result<File> {
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
    use std::time::Duration;
    use tokio::time::{Instant, sleep};

    /// Time to read a body of this size.
    async fn read<T>(mebibytes: usize, permit: impl Future<Output = T>) -> Duration {
        let chunk = Bytes::from(vec![7; 1 << 20]);
        let chunks = std::iter::repeat_n(Ok::<_, Infallible>(chunk), mebibytes);
        let began = Instant::now();
        let read =
            BufferedBody::read(Body::from_stream(stream::iter(chunks)), 64 << 20, &mut Sha256::new(), permit).await;
        assert_eq!(matches!(read.unwrap(), BufferedBody::File(_)), mebibytes > 1);
        began.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn only_a_large_body_waits_for_its_permit() {
        assert_eq!(read(1, pending::<()>()).await, Duration::ZERO);
        assert_eq!(read(41, sleep(Duration::from_secs(3))).await.as_secs(), 3);
    }
}
