//! Model of artifacts.

use crate::clock::Millis;
use crate::text_type::text_type;

text_type! {
    /// Name or version. It becomes part of a file name at the agent, so it must not lead out of a folder.
    pub(super) struct ArtifactLabel;
    check: |text| {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | b'+');
        let begins = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
        if begins && text.len() <= 128 && text.bytes().all(fits) {
            return Ok(());
        }
        Err("must be 1 to 128 of A-Z, a-z, 0-9, _, ., - and +, and begin with a letter or digit")
    };
    schema: |text| text.max_length(Some(128)).pattern(Some("^[A-Za-z0-9][A-Za-z0-9_.+-]*$"));
}

/// One version of an installable archive.
#[allow(clippy::struct_field_names, reason = "the columns' names")]
#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct Artifact {
    pub(super) artifact_id: String,
    pub(super) name: ArtifactLabel,
    pub(super) version: ArtifactLabel,
    /// SHA-256 of the bytes, in hex.
    pub(super) sha256: String,
    pub(super) size_bytes: i64,
    pub(super) created_at: Millis,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_no_path() {
        for good in ["a", "my-plugin", "1.4.0+build.7", "Essentials_X"] {
            assert_eq!(good.parse::<ArtifactLabel>().unwrap().as_str(), good);
        }
        for bad in ["", ".", "..", ".hidden", "a/b", "a\\b", "a b", "é", "a\0", "-rf", &"x".repeat(129)] {
            assert!(bad.parse::<ArtifactLabel>().is_err(), "{bad:?}");
        }
    }
}
