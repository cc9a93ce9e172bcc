//! Where snapshots are: the hub's own disk, or an S3-compatible store that nodes reach by presigned URLs.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use axum::body::Body;
use futures_util::StreamExt as _;
use reqwest::Url;
use rusty_s3::{Bucket, Credentials, S3Action as _, UrlStyle};
use tokio::fs;
use tokio::io::AsyncWriteExt as _;

use crate::clock::Millis;
use crate::config::Settings;
use crate::http_client;
use crate::ids::Ids;
use crate::worlds::model::Blob;

/// Where they are in the data folder.
pub(crate) const FOLDER: &str = "worlds";

/// Settings of snapshots that are not for users.
#[derive(Clone, Copy, Debug)]
pub struct SnapshotSettings {
    /// The largest snapshot on the hub's own disk, in bytes.
    pub limit: u64,
}

impl Default for SnapshotSettings {
    fn default() -> Self {
        Self { limit: 512 * 1024 * 1024 }
    }
}

/// Where snapshots are.
#[derive(Debug)]
pub struct SnapshotStore {
    folder: PathBuf,
    pub(super) limit: u64,
    s3: Option<S3>,
}

#[derive(Debug)]
struct S3 {
    bucket: Bucket,
    credentials: Credentials,
    /// Empty, or with a slash at its end.
    prefix: String,
    http: reqwest::Client,
}

/// Why a snapshot did not come to the hub's own disk.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReceiveError {
    #[error("it is too large")]
    TooLarge,
    #[error("the upload was cut off: {0}")]
    CutOff(axum::Error),
    #[error("it could not be written: {0}")]
    Disk(#[from] io::Error),
}

impl SnapshotStore {
    /// Opens what the settings say. Uploads that a crash left half-way are deleted.
    pub fn open(settings: &Settings) -> anyhow::Result<Self> {
        let folder = settings.data.join(FOLDER);
        let incoming = folder.join("incoming");
        if incoming.exists() {
            std::fs::remove_dir_all(&incoming).with_context(|| format!("cannot empty {}", incoming.display()))?;
        }
        let s3 = settings.snapshots.as_deref().map(S3::open).transpose()?;
        Ok(Self { folder, limit: settings.snapshot_settings.limit, s3 })
    }

    /// Whether snapshots go to the hub itself.
    pub(super) fn is_own_disk(&self) -> bool {
        self.s3.is_none()
    }

    /// A presigned URL to put a snapshot with; none where it goes to the hub itself.
    pub(super) fn put_url(&self, blob_key: &str, now: Millis, good_for: Duration) -> Option<String> {
        let s3 = self.s3.as_ref()?;
        let key = s3.key(blob_key);
        Some(s3.bucket.put_object(Some(&s3.credentials), &key).sign_with_time(good_for, &timestamp(now)).into())
    }

    /// A presigned URL to get a snapshot with; none where there is no store but the hub itself.
    pub(super) fn get_url(&self, blob_key: &str, now: Millis, good_for: Duration) -> Option<String> {
        let s3 = self.s3.as_ref()?;
        let key = s3.key(blob_key);
        Some(s3.bucket.get_object(Some(&s3.credentials), &key).sign_with_time(good_for, &timestamp(now)).into())
    }

    /// Writes an upload to the disk: whole and safe from a power cut when this returns, under a name of its own. The
    /// name, relative to the folder, and its size.
    pub(super) async fn receive(&self, name: String, ids: &Ids, body: Body) -> Result<(String, u64), ReceiveError> {
        let incoming = self.folder.join("incoming");
        fs::create_dir_all(&incoming).await?;
        let half = Half(Some(incoming.join(ids.token(20))));
        let path = half.0.as_deref().unwrap_or(&incoming);
        let mut file = fs::File::create_new(path).await?;
        let (mut size, mut body) = (0, body.into_data_stream());
        while let Some(chunk) = body.next().await {
            let chunk = chunk.map_err(ReceiveError::CutOff)?;
            size += chunk.len() as u64;
            if size > self.limit {
                return Err(ReceiveError::TooLarge);
            }
            file.write_all(&chunk).await?;
        }
        file.sync_all().await?;
        let file_name = format!("{name}-{}", ids.token(12));
        let target = self.folder.join(&file_name);
        let folder = target.parent().unwrap_or(&self.folder);
        fs::create_dir_all(folder).await?;
        fs::rename(path, &target).await?;
        half.whole();
        sync_folders(&self.folder, folder).await?;
        Ok((file_name, size))
    }

    /// Opens a snapshot on the hub's own disk; its size.
    pub(super) async fn read(&self, file: &str) -> io::Result<(fs::File, u64)> {
        let file = fs::File::open(self.folder.join(file)).await?;
        let size = file.metadata().await?.len();
        Ok((file, size))
    }

    /// Deletes a file on the hub's own disk; one that is not there is no error.
    pub(super) async fn delete_file(&self, file: &str) -> io::Result<()> {
        match fs::remove_file(self.folder.join(file)).await {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Deletes a snapshot from wherever it is.
    pub(super) async fn delete(&self, blob: &Blob, now: Millis) -> anyhow::Result<()> {
        if let Some(file) = &blob.file {
            return Ok(self.delete_file(file).await?);
        }
        // Also one that no node spoke of: it may be there.
        if let Some(s3) = &self.s3 {
            s3.delete(&blob.blob_key, now).await?;
        }
        Ok(())
    }
}

/// The names of files and folders, too, survive a power cut.
async fn sync_folders(top: &Path, folder: &Path) -> io::Result<()> {
    for folder in folder.ancestors().take_while(|it| it.starts_with(top)) {
        fs::File::open(folder).await?.sync_all().await?;
    }
    Ok(())
}

fn timestamp(now: Millis) -> jiff::Timestamp {
    jiff::Timestamp::from_millisecond(now).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
}

/// A file that goes unless it became whole.
struct Half(Option<PathBuf>);

impl Half {
    fn whole(mut self) {
        self.0 = None;
    }
}

impl Drop for Half {
    fn drop(&mut self) {
        if let Some(path) = self.0.take() {
            let _ = std::fs::remove_file(path);
        }
    }
}

impl S3 {
    /// `s3://KEY:SECRET@HOST[:PORT]/BUCKET[/PREFIX][?region=R&tls=off&style=virtual]`.
    fn open(url: &str) -> anyhow::Result<Self> {
        let shape = "`snapshots` must read s3://KEY:SECRET@HOST/BUCKET, see docs/worlds.md";
        let url: Url = url.parse().context(shape)?;
        let host = url.host_str().context(shape)?;
        anyhow::ensure!(url.scheme() == "s3", shape);
        let (mut region, mut scheme, mut style) = ("us-east-1".to_owned(), "https", UrlStyle::Path);
        for (name, value) in url.query_pairs() {
            match (&*name, &*value) {
                ("region", value) => value.clone_into(&mut region),
                ("tls", "off") => scheme = "http",
                ("tls", "on") | ("style", "path") => {}
                ("style", "virtual") => style = UrlStyle::VirtualHost,
                _ => anyhow::bail!("{shape}: `{name}={value}` means nothing there"),
            }
        }
        let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
        let endpoint: Url = format!("{scheme}://{host}{port}").parse().context(shape)?;
        let path = url.path().trim_matches('/');
        let (bucket, prefix) = path.split_once('/').unwrap_or((path, ""));
        anyhow::ensure!(!bucket.is_empty(), shape);
        let bucket = Bucket::new(endpoint, style, bucket.to_owned(), region)
            .map_err(|error| anyhow::anyhow!("{shape}: {error}"))?;
        let secret = url.password().context(shape)?;
        Ok(Self {
            bucket,
            credentials: Credentials::new(decoded(url.username()), decoded(secret)),
            prefix: if prefix.is_empty() { String::new() } else { format!("{prefix}/") },
            http: http_client::client()?,
        })
    }

    fn key(&self, blob_key: &str) -> String {
        format!("{}{blob_key}", self.prefix)
    }

    async fn delete(&self, blob_key: &str, now: Millis) -> anyhow::Result<()> {
        let key = self.key(blob_key);
        let delete = self.bucket.delete_object(Some(&self.credentials), &key);
        let url = delete.sign_with_time(Duration::from_mins(5), &timestamp(now));
        let answer = self.http.delete(url).timeout(Duration::from_secs(10)).send().await?;
        anyhow::ensure!(
            answer.status().is_success() || answer.status() == 404,
            "the store answered {}",
            answer.status()
        );
        Ok(())
    }
}

/// A part of a URL without its percent signs.
fn decoded(part: &str) -> String {
    let value = format!("v={}", part.replace('+', "%2B").replace('&', "%26"));
    form_urlencoded::parse(value.as_bytes()).next().map(|(_, value)| value.into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_named_by_one_url() {
        let s3 = S3::open("s3://AKID:se%2Fcr+et@s3.example.org:9000/worlds/eu/west?region=eu-west-1&tls=off").unwrap();
        assert_eq!(s3.bucket.base_url().as_str(), "http://s3.example.org:9000/worlds/");
        assert_eq!(
            (s3.bucket.region(), s3.credentials.key(), s3.credentials.secret()),
            ("eu-west-1", "AKID", "se/cr+et")
        );
        assert_eq!(s3.key("a/b"), "eu/west/a/b");
        let s3 = S3::open("s3://K:S@example.org/worlds?style=virtual").unwrap();
        assert_eq!(s3.bucket.base_url().as_str(), "https://worlds.example.org/");
        for wrong in ["", "http://K:S@h/b", "s3://h/b", "s3://K:S@h", "s3://K:S@h/b?tls=maybe", "s3://K:S@h/b?x=y"] {
            assert!(S3::open(wrong).is_err(), "{wrong}");
        }
    }
}
