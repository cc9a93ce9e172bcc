//! A small S3-compatible store that checks signatures.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Query, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use tokio::sync::watch;

const BUCKET: &str = "/worlds/";

#[derive(Clone)]
pub struct S3 {
    address: std::net::SocketAddr,
    objects: Arc<Mutex<Objects>>,
    /// Number of writes that are allowed before further ones block.
    writes: Arc<watch::Sender<usize>>,
}

#[derive(Default)]
struct Objects {
    whole: BTreeMap<String, Bytes>,
    uploads: BTreeMap<String, BTreeMap<usize, Bytes>>,
    last_upload: usize,
}

impl S3 {
    pub async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let s3 = Self { address, objects: Arc::default(), writes: Arc::new(watch::Sender::new(usize::MAX)) };
        let router = Router::new().fallback(serve).layer(DefaultBodyLimit::disable()).with_state(s3.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        s3
    }

    /// Value of `--blobs`.
    pub fn url(&self) -> String {
        format!("s3://AKID:s3cr%2Fet@{}/worlds/eu?region=eu-west-1&tls=off", self.address)
    }

    /// The keys of its objects but for the hub's mark, without the prefix.
    pub fn keys(&self) -> Vec<String> {
        let objects = self.objects.lock().unwrap();
        let keys = objects.whole.keys().map(|key| key.strip_prefix("eu/").unwrap().to_owned());
        keys.filter(|key| key != "hub-cluster").collect()
    }

    /// Their bytes.
    pub fn values(&self) -> Vec<Bytes> {
        let objects = self.objects.lock().unwrap();
        let own = objects.whole.iter().filter(|(key, _)| !key.ends_with("/hub-cluster"));
        own.map(|(_, value)| value.clone()).collect()
    }

    /// Number of unfinished multipart uploads.
    pub fn unfinished(&self) -> usize {
        self.objects.lock().unwrap().uploads.len()
    }

    /// Allows that many more writes; later ones wait.
    pub fn allow_writes(&self, count: usize) {
        self.writes.send_replace(count);
    }

    async fn write(&self) {
        let mut writes = self.writes.subscribe();
        loop {
            let mut is_mine = false;
            self.writes.send_if_modified(|left| {
                is_mine = *left > 0;
                *left = left.saturating_sub(1);
                false
            });
            if is_mine {
                return;
            }
            writes.changed().await.unwrap();
        }
    }

    fn put(&self, key: &str, query: &HashMap<String, String>, headers: &HeaderMap, body: Bytes) -> Response {
        let mut objects = self.objects.lock().unwrap();
        if let Some(id) = query.get("uploadId") {
            let Some(parts) = objects.uploads.get_mut(id) else { return StatusCode::NOT_FOUND.into_response() };
            parts.insert(query["partNumber"].parse().unwrap(), body);
        } else if let Some(source) = headers.get("x-amz-copy-source") {
            let source = source.to_str().unwrap().trim_start_matches('/').strip_prefix("worlds/").unwrap();
            let Some(bytes) = objects.whole.get(source).cloned() else { return StatusCode::NOT_FOUND.into_response() };
            objects.whole.insert(key.to_owned(), bytes);
            return "<CopyObjectResult><ETag>\"1\"</ETag></CopyObjectResult>".into_response();
        } else {
            objects.whole.insert(key.to_owned(), body);
        }
        [("ETag", "\"1\"")].into_response()
    }

    fn post(&self, key: &str, query: &HashMap<String, String>) -> Response {
        let mut objects = self.objects.lock().unwrap();
        if query.contains_key("uploads") {
            objects.last_upload += 1;
            let id = objects.last_upload.to_string();
            objects.uploads.insert(id.clone(), BTreeMap::new());
            let (begin, end) = ("<InitiateMultipartUploadResult>", "</InitiateMultipartUploadResult>");
            return format!("{begin}<UploadId>{id}</UploadId>{end}").into_response();
        }
        let Some(parts) = objects.uploads.remove(&query["uploadId"]) else {
            return StatusCode::NOT_FOUND.into_response();
        };
        let (last, before) =
            parts.values().collect::<Vec<_>>().split_last().map(|(l, b)| (l.len(), b.to_vec())).unwrap();
        assert!(last > 0 && before.iter().all(|part| part.len() >= 5 * 1024 * 1024), "a part is too small");
        let whole = parts.into_values().collect::<Vec<_>>().concat();
        objects.whole.insert(key.to_owned(), whole.into());
        "<CompleteMultipartUploadResult><ETag>\"1\"</ETag></CompleteMultipartUploadResult>".into_response()
    }

    fn get(&self, key: &str) -> Response {
        let Some(bytes) = self.objects.lock().unwrap().whole.get(key).cloned() else {
            return StatusCode::NOT_FOUND.into_response();
        };
        ([("ETag", "\"1\""), ("Last-Modified", "Wed, 10 Mar 2027 12:00:00 GMT")], bytes).into_response()
    }

    fn list(&self, prefix: &str) -> Response {
        let objects = self.objects.lock().unwrap();
        let at = "2027-03-10T12:00:00Z";
        let entry = |(key, bytes): (&String, &Bytes)| {
            format!(
                "<Contents><Key>{key}</Key><LastModified>{at}</LastModified><Size>{}</Size></Contents>",
                bytes.len()
            )
        };
        let entries: Vec<_> = objects.whole.iter().filter(|(key, _)| key.starts_with(prefix)).map(entry).collect();
        format!("<ListBucketResult>{}</ListBucketResult>", entries.concat()).into_response()
    }
}

async fn serve(
    State(s3): State<S3>,
    Query(query): Query<HashMap<String, String>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    if !is_signed(&query, &headers) {
        return (StatusCode::FORBIDDEN, format!("{query:?} {headers:?}")).into_response();
    }
    let key = uri.path().strip_prefix(BUCKET).unwrap_or_default();
    if method != Method::GET && method != Method::HEAD {
        s3.write().await;
    }
    match method {
        Method::PUT => s3.put(key, &query, &headers, body),
        Method::POST => s3.post(key, &query),
        Method::DELETE => {
            let mut objects = s3.objects.lock().unwrap();
            match query.get("uploadId") {
                Some(id) => drop(objects.uploads.remove(id)),
                None => drop(objects.whole.remove(key)),
            }
            StatusCode::NO_CONTENT.into_response()
        }
        _ if query.contains_key("list-type") => s3.list(&query["prefix"]),
        _ => s3.get(key),
    }
}

/// By a signed URL, or by a header.
fn is_signed(query: &HashMap<String, String>, headers: &HeaderMap) -> bool {
    let said = |name: &str| query.get(name).map(String::as_str).unwrap_or_default();
    let credential = |text: &str| text.starts_with("AKID/") && text.ends_with("/eu-west-1/s3/aws4_request");
    if let Some(header) = headers.get("authorization") {
        let header = header.to_str().unwrap();
        let Some(rest) = header.strip_prefix("AWS4-HMAC-SHA256 Credential=") else { return false };
        return credential(rest.split_once(',').unwrap().0) && header.contains("Signature=");
    }
    said("X-Amz-Algorithm") == "AWS4-HMAC-SHA256"
        && credential(said("X-Amz-Credential"))
        && said("X-Amz-Signature").len() == 64
        && said("X-Amz-SignedHeaders") == "host"
}
