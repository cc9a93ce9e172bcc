//! What goes through the pipes between the hub and its compiling child. Both are the same executable, so there is
//! one version of it only.

use super::Compiled;
use crate::contract::Point;
use crate::inspect::Offer;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt};

/// The limits the child puts itself under, ahead of the upload's bytes.
pub(super) struct Header {
    pub(super) memory_bytes: u64,
    pub(super) cpu_seconds: u64,
}

impl Header {
    pub(super) fn to_bytes(&self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.memory_bytes.to_le_bytes());
        bytes[8..].copy_from_slice(&self.cpu_seconds.to_le_bytes());
        bytes
    }

    pub(super) fn read(input: &mut impl Read) -> io::Result<Self> {
        let mut number = || {
            let mut bytes = [0; 8];
            input.read_exact(&mut bytes)?;
            io::Result::Ok(u64::from_le_bytes(bytes))
        };
        Ok(Self { memory_bytes: number()?, cpu_seconds: number()? })
    }
}

/// The first line of the child's answer; the component (where it was wrapped) and the artifact follow it.
#[derive(Serialize, Deserialize)]
enum Answer {
    Invalid(String),
    Compiled { points: Vec<Point>, world_version: String, wrapped_bytes: Option<usize>, artifact_bytes: usize },
}

/// Writes the outcome of a compilation.
pub(super) fn write(outcome: &Result<Compiled, String>, output: &mut impl Write) -> io::Result<()> {
    let answer = match outcome {
        Err(why) => Answer::Invalid(why.clone()),
        Ok(compiled) => Answer::Compiled {
            points: compiled.offer.points.clone(),
            world_version: compiled.offer.world_version.clone(),
            wrapped_bytes: compiled.wrapped.as_ref().map(Vec::len),
            artifact_bytes: compiled.artifact.len(),
        },
    };
    serde_json::to_writer(&mut *output, &answer)?;
    output.write_all(b"\n")?;
    if let Ok(compiled) = outcome {
        output.write_all(compiled.wrapped.as_deref().unwrap_or_default())?;
        output.write_all(&compiled.artifact)?;
    }
    output.flush()
}

/// Reads the outcome of a compilation; none where the child did not get to write all of it.
pub(super) async fn read(output: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<Result<Compiled, String>>> {
    let mut line = Vec::new();
    output.read_until(b'\n', &mut line).await?;
    let Ok(answer) = serde_json::from_slice(&line) else { return Ok(None) };
    let (offer, wrapped_bytes, artifact_bytes) = match answer {
        Answer::Invalid(why) => return Ok(Some(Err(why))),
        Answer::Compiled { points, world_version, wrapped_bytes, artifact_bytes } => {
            (Offer { points, world_version }, wrapped_bytes, artifact_bytes)
        }
    };
    let wrapped = match wrapped_bytes {
        Some(bytes) => Some(exactly(output, bytes).await?),
        None => None,
    };
    let artifact = exactly(output, artifact_bytes).await?;
    let (Some(wrapped), Some(artifact)) = (wrapped.map_or(Some(None), |wrapped| wrapped.map(Some)), artifact) else {
        return Ok(None);
    };
    Ok(Some(Ok(Compiled { wrapped, artifact, offer })))
}

/// So many bytes; none where there are fewer. In one piece from the beginning: memory that grows is moved under a lock
/// which calls may wait for.
async fn exactly(output: &mut (impl AsyncBufRead + Unpin), bytes: usize) -> io::Result<Option<Vec<u8>>> {
    let mut read = Vec::new();
    read.try_reserve_exact(bytes)?;
    output.take(bytes as u64).read_to_end(&mut read).await?;
    Ok((read.len() == bytes).then_some(read))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_outcome_reads_back_unless_it_was_cut_short() {
        let compiled = Compiled {
            wrapped: Some(vec![1, 2, 3]),
            artifact: vec![b'\n', 5],
            offer: Offer { points: vec![Point::Chat], world_version: "1.0.0".into() },
        };
        let mut bytes = Vec::new();
        write(&Ok(compiled), &mut bytes).unwrap();
        let back = read(&mut bytes.as_slice()).await.unwrap().unwrap().unwrap();
        assert_eq!(back.wrapped.as_deref(), Some(&[1, 2, 3][..]));
        assert_eq!(back.artifact, [b'\n', 5]);
        assert_eq!(back.offer.points, [Point::Chat]);
        bytes.pop();
        for cut_short in [bytes.as_slice(), b""] {
            assert!(read(&mut &*cut_short).await.unwrap().is_none());
        }
    }
}
