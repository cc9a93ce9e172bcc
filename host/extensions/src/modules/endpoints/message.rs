//! Requests and answers, between HTTP and the module.

use axum::body::Body;
use axum::extract::{Request as HttpRequest, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Uri, header};
use axum::response::Response as HttpResponse;
use hub_sandbox::contract::endpoints::Response;
use hub_sandbox::manifest::{Endpoint, is_shown_header};

use super::store::KeptAnswer;
use crate::http::answer::{AnswerOf, set_body};
use crate::http::error::ApiError;
use crate::http::layers::Next;
use crate::values::NetworkId;

/// Beginning of the paths without a key.
const PUBLIC_PREFIX: &str = "/api/public/x/";
/// Beginning of the paths with one.
const PRIVATE_PREFIX: &str = "/api/plugin/x/";
/// Largest body that is kept for repeats.
const MAX_KEPT: usize = 64 << 10;
const MAX_QUERY_BYTES: usize = 4 << 10;
const MAX_QUERY_PAIRS: usize = 64;

/// The query, decoded.
pub(super) fn query(uri: &Uri) -> Result<Vec<(String, String)>, ApiError> {
    let text = uri.query().unwrap_or_default();
    let pairs = axum::extract::Query::<Vec<(String, String)>>::try_from_uri(uri);
    let pairs = pairs.map_err(|error| ApiError::invalid(format!("Invalid query: {error}.")))?.0;
    if text.len() > MAX_QUERY_BYTES || pairs.len() > MAX_QUERY_PAIRS {
        let message = format!("A query has at most {MAX_QUERY_PAIRS} pairs and {MAX_QUERY_BYTES} bytes.");
        return Err(ApiError::invalid(message));
    }
    Ok(pairs)
}

/// Headers that the module sees: repeated ones are joined.
pub(super) fn headers(endpoint: &Endpoint, sent: &HeaderMap) -> Vec<(String, String)> {
    let names = std::iter::once("content-type").chain(endpoint.headers.iter().map(String::as_str));
    let mut seen: Vec<(String, String)> = vec![];
    for name in names {
        let values: Vec<_> = sent.get_all(name).iter().filter_map(|value| value.to_str().ok()).collect();
        if is_shown_header(name) && !values.is_empty() && seen.iter().all(|(before, _)| before != name) {
            seen.push((name.to_owned(), values.join(", ")));
        }
    }
    seen
}

/// Layer outside of all that may refuse a request: protects each answer under the paths of endpoints.
pub async fn protect_answers(State(()): State<()>, request: HttpRequest, next: Next) -> HttpResponse {
    let path = request.uri().path();
    let (is_public, is_private) = (path.starts_with(PUBLIC_PREFIX), path.starts_with(PRIVATE_PREFIX));
    let response = next.run(request).await;
    if is_public || is_private { protect(response, is_public) } else { response }
}

/// Adds the headers that keep an answer from acting as a page of the hub.
fn protect(mut response: HttpResponse, is_public: bool) -> HttpResponse {
    let headers = response.headers_mut();
    let policy = HeaderValue::from_static("sandbox; default-src 'none'");
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    let resources = HeaderName::from_static("cross-origin-resource-policy");
    headers.insert(resources, HeaderValue::from_static("cross-origin"));
    if is_public {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    }
    response
}

/// The module's answer as a response. A large one counts as one of the network's, whoever asked.
pub(super) fn to_http(network: NetworkId, answer: Response) -> Result<HttpResponse, ApiError> {
    let mut response = HttpResponse::builder().status(answer.status);
    let has_type = answer.headers.iter().any(|(name, _)| name == "content-type");
    for (name, value) in answer.headers {
        response = response.header(name, value);
    }
    if !has_type && !answer.body.is_empty() {
        response = response.header(header::CONTENT_TYPE, "application/octet-stream");
    }
    let mut response = response.body(Body::empty()).map_err(ApiError::internal)?;
    response.extensions_mut().insert(AnswerOf(network));
    set_body(&mut response, answer.body.into());
    Ok(response)
}

/// The form in which an answer is kept: of a large one, that it was given.
pub(super) fn kept_form(answer: &Response, fingerprint: Option<Vec<u8>>) -> KeptAnswer {
    let fingerprint = fingerprint.unwrap_or_default();
    if answer.body.len() > MAX_KEPT {
        return KeptAnswer { fingerprint, status: 200, headers: "[]".to_owned(), body: vec![] };
    }
    let headers = serde_json::to_string(&answer.headers).unwrap_or_default();
    KeptAnswer { fingerprint, status: answer.status.into(), headers, body: answer.body.clone() }
}

/// The answer that was kept.
pub(super) fn answer_of(kept: &KeptAnswer) -> Response {
    Response {
        status: u16::try_from(kept.status).unwrap_or(200),
        headers: serde_json::from_str(&kept.headers).unwrap_or_default(),
        body: kept.body.clone(),
        effects: vec![],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::answer::LargeAnswer;

    #[test]
    fn a_module_sees_the_headers_that_it_lists() {
        let endpoint: Endpoint =
            serde_json::from_str(r#"{"name": "a", "method": "POST", "path": "a", "headers": ["x-a", "content-type"]}"#)
                .unwrap();
        let sent = [("x-a", "1"), ("x-a", "2"), ("authorization", "secret"), ("content-type", "text/plain")];
        let sent: HeaderMap = sent
            .iter()
            .map(|(name, value)| (name.parse::<HeaderName>().unwrap(), HeaderValue::from_static(value)))
            .collect();
        let seen = headers(&endpoint, &sent);
        assert_eq!(seen, [("content-type".into(), "text/plain".into()), ("x-a".to_owned(), "1, 2".to_owned())]);
    }

    #[test]
    fn an_answer_is_kept_up_to_64_kib() {
        let headers = vec![("etag".to_owned(), "a".to_owned())];
        let answer = Response { status: 201, headers, body: vec![7; MAX_KEPT], effects: vec![] };
        assert_eq!(answer_of(&kept_form(&answer, None)), answer);
        let large = Response { body: vec![7; MAX_KEPT + 1], ..answer };
        assert_eq!(answer_of(&kept_form(&large, None)), Response { status: 200, ..Response::default() });
    }

    #[test]
    fn a_large_answer_is_one_of_the_network_whoever_asked() {
        let network = NetworkId(uuid::Uuid::from_u128(7));
        let of = |bytes: usize| {
            let answer = Response { status: 200, body: vec![7; bytes], ..Response::default() };
            let response = to_http(network, answer).unwrap();
            let counted = response.extensions().get::<LargeAnswer>().map(|LargeAnswer(bytes)| bytes.len());
            (counted, response.extensions().get::<AnswerOf>().map(|AnswerOf(network)| *network))
        };
        assert_eq!(of(200_000), (Some(200_000), Some(network)));
        assert_eq!(of(1_000).0, None);
    }

    #[test]
    fn a_query_is_decoded_and_bounded() {
        let read = |text: &str| query(&format!("/a?{text}").parse().unwrap());
        assert_eq!(read("a=1&a=b%20c").unwrap(), [("a".into(), "1".into()), ("a".to_owned(), "b c".to_owned())]);
        assert!(read(&"a=1&".repeat(65)).is_err());
    }
}
