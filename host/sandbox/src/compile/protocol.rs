//! Messages in the pipes between the hub and its compiling child, which are the same executable.

use super::Compiled;
use crate::confined::{Confinement, ProcessLimits};
use crate::contract::Point;
use crate::inspect::ModuleInfo;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt};

/// Limits for the child, and the upload's size. The upload follows.
pub(super) struct Header {
    pub(super) limits: ProcessLimits,
    pub(super) upload_bytes: u64,
}

impl Header {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let ProcessLimits { memory_bytes, cpu_seconds } = self.limits;
        [memory_bytes, cpu_seconds, self.upload_bytes].map(u64::to_le_bytes).concat()
    }

    pub(super) fn read(input: &mut impl Read) -> io::Result<Self> {
        let mut number = || {
            let mut bytes = [0; 8];
            input.read_exact(&mut bytes)?;
            io::Result::Ok(u64::from_le_bytes(bytes))
        };
        let limits = ProcessLimits { memory_bytes: number()?, cpu_seconds: number()? };
        Ok(Self { limits, upload_bytes: number()? })
    }
}

/// First line of the child's answer.
#[derive(Serialize, Deserialize)]
struct FirstLine {
    confinement: Confinement,
    answer: Answer,
}

/// The child's answer; the component (if it was wrapped) and the artifact follow it.
#[derive(Serialize, Deserialize)]
enum Answer {
    Invalid(String),
    Compiled {
        points: Vec<Point>,
        world_version: String,
        manifest: Option<String>,
        wrapped_bytes: Option<usize>,
        artifact_bytes: usize,
    },
}

/// Writes the outcome of a compilation.
pub(super) fn write(
    confinement: Confinement,
    outcome: &Result<Compiled, String>,
    output: &mut impl Write,
) -> io::Result<()> {
    let answer = match outcome {
        Err(why) => Answer::Invalid(why.clone()),
        Ok(compiled) => Answer::Compiled {
            points: compiled.info.points.clone(),
            world_version: compiled.info.world_version.clone(),
            manifest: compiled.info.manifest.clone(),
            wrapped_bytes: compiled.wrapped.as_ref().map(Vec::len),
            artifact_bytes: compiled.artifact.len(),
        },
    };
    serde_json::to_writer(&mut *output, &FirstLine { confinement, answer })?;
    output.write_all(b"\n")?;
    if let Ok(compiled) = outcome {
        output.write_all(compiled.wrapped.as_deref().unwrap_or_default())?;
        output.write_all(&compiled.artifact)?;
    }
    output.flush()
}

/// Outcome read from the child.
pub(super) type Reply = (Confinement, Result<Compiled, String>);

/// Reads the outcome of a compilation; `None` if it is incomplete.
pub(super) async fn read(output: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<Reply>> {
    let mut line = Vec::new();
    output.read_until(b'\n', &mut line).await?;
    let Ok(FirstLine { confinement, answer }) = serde_json::from_slice(&line) else { return Ok(None) };
    let (info, wrapped_bytes, artifact_bytes) = match answer {
        Answer::Invalid(why) => return Ok(Some((confinement, Err(why)))),
        Answer::Compiled { points, world_version, manifest, wrapped_bytes, artifact_bytes } => {
            (ModuleInfo { points, world_version, manifest }, wrapped_bytes, artifact_bytes)
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
    Ok(Some((confinement, Ok(Compiled { wrapped, artifact, info }))))
}

/// Reads exactly that many bytes; `None` if there are fewer. Allocated at once: growing memory moves it under a lock
/// that calls may wait for.
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
            info: ModuleInfo { points: vec![Point::Chat], world_version: "1.0.0".into(), manifest: None },
        };
        let mut bytes = Vec::new();
        write(Confinement { landlock: true }, &Ok(compiled), &mut bytes).unwrap();
        let (confinement, back) = read(&mut bytes.as_slice()).await.unwrap().unwrap();
        let back = back.unwrap();
        assert!(confinement.landlock);
        assert_eq!(back.wrapped.as_deref(), Some(&[1, 2, 3][..]));
        assert_eq!(back.artifact, [b'\n', 5]);
        assert_eq!(back.info.points, [Point::Chat]);
        bytes.pop();
        for cut_short in [bytes.as_slice(), b""] {
            assert!(read(&mut &*cut_short).await.unwrap().is_none());
        }
    }
}
