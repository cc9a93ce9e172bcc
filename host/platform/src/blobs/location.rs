//! Parsing of `--blobs`.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::client::{HttpClient, HttpConnector};
use object_store::path::Path;
use object_store::{ClientOptions, RetryConfig};
use reqwest::Url;

use crate::config::Settings;
use crate::http_client;

const DEFAULT_FOLDER: &str = "blobs";
const SHAPE: &str =
    "`blobs` must be a folder or s3://KEY:SECRET@HOST[:PORT]/BUCKET[/PREFIX][?region=R&tls=off&style=virtual]";
const RETRIES: usize = 3;
const RETRY_WITHIN: Duration = Duration::from_secs(15);
const CONNECT_WITHIN: Duration = Duration::from_secs(10);
const ANSWER_WITHIN: Duration = Duration::from_mins(1);

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Location {
    Folder(PathBuf),
    S3(S3Location),
}

#[derive(PartialEq, Eq)]
pub(super) struct S3Location {
    endpoint: String,
    bucket: String,
    /// Prefix of all keys; may be empty.
    pub(super) prefix: Path,
    region: String,
    key: String,
    secret: String,
    is_virtual_hosted: bool,
}

/// Without the secret.
impl std::fmt::Debug for S3Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("S3Location")
            .field("endpoint", &self.endpoint)
            .field("bucket", &self.bucket)
            .finish_non_exhaustive()
    }
}

impl Location {
    pub(super) fn of(settings: &Settings) -> anyhow::Result<Self> {
        match settings.blobs.as_deref() {
            None => Ok(Self::Folder(settings.data.join(DEFAULT_FOLDER))),
            Some("") => anyhow::bail!(SHAPE),
            Some(text) if text.contains("://") => S3Location::parse(text).map(Self::S3),
            Some(folder) => Ok(Self::Folder(folder.into())),
        }
    }
}

impl S3Location {
    fn parse(text: &str) -> anyhow::Result<Self> {
        let url: Url = text.parse().context(SHAPE)?;
        anyhow::ensure!(url.scheme() == "s3", SHAPE);
        let host = url.host_str().context(SHAPE)?;
        let (mut region, mut scheme, mut is_virtual_hosted) = ("us-east-1".to_owned(), "https", false);
        for (name, value) in url.query_pairs() {
            match (&*name, &*value) {
                ("region", value) => value.clone_into(&mut region),
                ("tls", "off") => scheme = "http",
                ("tls", "on") | ("style", "path") => {}
                ("style", "virtual") => is_virtual_hosted = true,
                _ => anyhow::bail!("{SHAPE}: unknown parameter `{name}={value}`"),
            }
        }
        let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
        let path = url.path().trim_matches('/');
        let (bucket, prefix) = path.split_once('/').unwrap_or((path, ""));
        anyhow::ensure!(!bucket.is_empty(), SHAPE);
        let host = if is_virtual_hosted { format!("{bucket}.{host}") } else { host.to_owned() };
        Ok(Self {
            endpoint: format!("{scheme}://{host}{port}"),
            bucket: bucket.to_owned(),
            prefix: Path::parse(prefix).context(SHAPE)?,
            region,
            key: decoded(url.username()),
            secret: decoded(url.password().context(SHAPE)?),
            is_virtual_hosted,
        })
    }

    pub(super) fn open(&self) -> anyhow::Result<AmazonS3> {
        let http = http_client::builder()?.connect_timeout(CONNECT_WITHIN).read_timeout(ANSWER_WITHIN).build()?;
        let builder = AmazonS3Builder::new()
            .with_endpoint(&self.endpoint)
            .with_bucket_name(&self.bucket)
            .with_region(&self.region)
            .with_access_key_id(&self.key)
            .with_secret_access_key(&self.secret)
            .with_virtual_hosted_style_request(self.is_virtual_hosted)
            // Not every S3-compatible store can delete several objects at once.
            .with_disable_bulk_delete(true)
            .with_retry(RetryConfig { max_retries: RETRIES, retry_timeout: RETRY_WITHIN, ..RetryConfig::default() })
            .with_http_connector(HubHttp(http));
        Ok(builder.build()?)
    }
}

/// Calls the store with the hub's own HTTP client and TLS.
#[derive(Debug)]
struct HubHttp(reqwest::Client);

impl HttpConnector for HubHttp {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.0.clone()))
    }
}

/// Decodes the percent signs in a part of a URL.
fn decoded(part: &str) -> String {
    let value = format!("v={}", part.replace('+', "%2B").replace('&', "%26"));
    form_urlencoded::parse(value.as_bytes()).next().map(|(_, value)| value.into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_named_by_one_url() {
        let text = "s3://AKID:se%2Fcr+et@s3.example.org:9000/worlds/eu/west?region=eu-west-1&tls=off";
        let s3 = S3Location::parse(text).unwrap();
        assert_eq!((s3.endpoint.as_str(), s3.bucket.as_str()), ("http://s3.example.org:9000", "worlds"));
        assert_eq!((s3.region.as_str(), s3.key.as_str(), s3.secret.as_str()), ("eu-west-1", "AKID", "se/cr+et"));
        assert_eq!(s3.prefix.as_ref(), "eu/west");
        let s3 = S3Location::parse("s3://K:S@example.org/worlds?style=virtual").unwrap();
        assert_eq!((s3.endpoint.as_str(), s3.prefix.as_ref()), ("https://worlds.example.org", ""));
        s3.open().unwrap();
        for wrong in ["http://K:S@h/b", "s3://h/b", "s3://K:S@h", "s3://K:S@h/b?tls=maybe", "s3://K:S@h/b?x=y"] {
            assert!(S3Location::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn anything_else_is_a_folder() {
        let of = |blobs: Option<&str>| {
            Location::of(&Settings { blobs: blobs.map(str::to_owned), data: "data".into(), ..Settings::default() })
        };
        assert_eq!(of(None).unwrap(), Location::Folder("data/blobs".into()));
        assert_eq!(of(Some("/srv/shared")).unwrap(), Location::Folder("/srv/shared".into()));
        assert!(of(Some("")).is_err());
        assert!(of(Some("gs://bucket")).is_err());
    }
}
