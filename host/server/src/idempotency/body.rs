//! A body that can be handed to a handler more than once.

use std::io;

use axum::body::{Body, Bytes};
use http_body_util::BodyExt as _;
use sha2::{Digest as _, Sha256};
use tokio::fs::File;
use tokio::io::{AsyncSeekExt as _, AsyncWriteExt as _};
use tokio_util::io::ReaderStream;

use crate::http::error::ApiError;
use crate::http::extract::JSON_LIMIT;

/// The most any route takes.
const MOST: usize = 512 * 1024 * 1024;

/// In memory while it is small, in an unnamed file when it is not.
pub(super) enum Spooled {
    Small(Bytes),
    Large(File),
}

impl Spooled {
    /// Reads the body to its end and puts it into `digest`.
    pub(super) async fn read(body: Body, digest: &mut Sha256) -> Result<Self, ApiError> {
        let unreadable = |error: axum::Error| ApiError::invalid(format!("The body could not be read: {error}."));
        let (mut body, mut small, mut large, mut length) = (body, Vec::new(), None, 0_usize);
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame.map_err(unreadable)?.into_data() else { continue };
            digest.update(&data);
            length = length.saturating_add(data.len());
            if length > MOST {
                return Err(ApiError::too_large(MOST));
            }
            if length <= JSON_LIMIT {
                small.extend_from_slice(&data);
                continue;
            }
            let file = match &mut large {
                Some(file) => file,
                None => large.insert(begin(&small).await.map_err(ApiError::internal)?),
            };
            file.write_all(&data).await.map_err(ApiError::internal)?;
        }
        Ok(match large {
            Some(mut file) => {
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

async fn begin(so_far: &[u8]) -> io::Result<File> {
    let file = tokio::task::spawn_blocking(tempfile::tempfile).await.map_err(io::Error::other)??;
    let mut file = File::from_std(file);
    file.write_all(so_far).await?;
    Ok(file)
}
