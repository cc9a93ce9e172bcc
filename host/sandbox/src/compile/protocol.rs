//! What goes through the pipes between the hub and its compiling child. Both are the same executable, so there is
//! one version of it only.

use super::Compiled;
use crate::contract::Point;
use crate::inspect::Offer;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};

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
pub(super) fn read(output: &[u8]) -> Option<Result<Compiled, String>> {
    let line_end = output.iter().position(|&byte| byte == b'\n')?;
    let (line, rest) = output.split_at(line_end);
    let rest = &rest[1..];
    match serde_json::from_slice(line).ok()? {
        Answer::Invalid(why) => Some(Err(why)),
        Answer::Compiled { points, world_version, wrapped_bytes, artifact_bytes } => {
            let wrapped_len = wrapped_bytes.unwrap_or(0);
            if rest.len() != wrapped_len.checked_add(artifact_bytes)? {
                return None;
            }
            let (wrapped, artifact) = rest.split_at(wrapped_len);
            Some(Ok(Compiled {
                wrapped: wrapped_bytes.map(|_| wrapped.to_vec()),
                artifact: artifact.to_vec(),
                offer: Offer { points, world_version },
            }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_reads_back_unless_it_was_cut_short() {
        let compiled = Compiled {
            wrapped: Some(vec![1, 2, 3]),
            artifact: vec![b'\n', 5],
            offer: Offer { points: vec![Point::Chat], world_version: "1.0.0".into() },
        };
        let mut bytes = Vec::new();
        write(&Ok(compiled), &mut bytes).unwrap();
        let back = read(&bytes).unwrap().unwrap();
        assert_eq!(back.wrapped.as_deref(), Some(&[1, 2, 3][..]));
        assert_eq!(back.artifact, [b'\n', 5]);
        assert_eq!(back.offer.points, [Point::Chat]);
        bytes.pop();
        assert!(read(&bytes).is_none());
        assert!(read(b"").is_none());
    }
}
