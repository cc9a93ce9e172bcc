//! Signed links to artifacts and snapshots: unsigned ones are 403, and signed claims are read unchanged.
//!
//! The first byte chooses the kind of link and of the rest: the whole token, claims or parts of claims to be signed, or
//! changes of a genuine token.
#![no_main]

use axum::body::Body;
use axum::http::{Method, Request};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use hub_fuzz::{Hub, NOW, Network, percent_encode};
use libfuzzer_sys::arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;

#[derive(Clone, Copy)]
enum Kind {
    Artifact,
    GetSnapshot,
    PutSnapshot,
}

impl Kind {
    fn purpose(self) -> &'static str {
        if matches!(self, Self::Artifact) { "artifact-links" } else { "world-links" }
    }

    /// The claims, in the hub's format.
    fn claims(self, network: &Network, expires_at: i64, id: &str) -> Vec<u8> {
        let access = match self {
            Self::Artifact => {
                return [network.id.as_bytes(), &expires_at.to_be_bytes()[..], id.as_bytes()].concat();
            }
            Self::GetSnapshot => "GET",
            Self::PutSnapshot => "PUT",
        };
        format!("{access}\n{}\n{expires_at}\n{id}", network.id.simple()).into_bytes()
    }

    async fn status(self, hub: &Hub, token: &[u8]) -> u16 {
        let (method, path) = match self {
            Self::Artifact => (Method::GET, "/api/artifacts/"),
            Self::GetSnapshot => (Method::GET, "/api/worlds/blobs/"),
            Self::PutSnapshot => (Method::PUT, "/api/worlds/blobs/"),
        };
        let request = Request::builder().method(method).uri(format!("{path}{}", percent_encode(token)));
        let answer = hub.send(request.body(Body::from("bytes")).expect("a request"), None).await;
        answer.expect("it waits for nothing").status.as_u16()
    }
}

fuzz_target!(|data: &[u8]| {
    let [choice, rest @ ..] = data else { return };
    let kind = [Kind::Artifact, Kind::GetSnapshot, Kind::PutSnapshot][usize::from(choice / 4) % 3];
    Hub::run(async |hub| {
        let network = hub.network().await;
        let artifact = upload(hub, &network).await;
        let key = hub.signing_key(kind.purpose()).await;
        let sign =
            |claims: &[u8]| format!("{}.{}", BASE64.encode(claims), BASE64.encode(key.sign(claims))).into_bytes();
        let genuine = sign(&kind.claims(&network, NOW + 60_000, &artifact));
        // The hub has no such snapshot.
        let expected = if matches!(kind, Kind::Artifact) { 200 } else { 404 };
        match choice % 4 {
            0 => {
                let status = kind.status(hub, rest).await;
                // No token at all is another route; one that is no text is no parameter.
                assert!(matches!(status, 400 | 403) || rest.is_empty() && status == 404, "{status}");
            }
            1 => {
                let status = kind.status(hub, &sign(rest)).await;
                assert!(matches!(status, 403 | 404 | 410), "{status}");
            }
            2 => {
                let mut input = Unstructured::new(rest);
                let expires_at = input.arbitrary().unwrap_or(NOW);
                let id = String::from_utf8_lossy(input.take_rest()).into_owned();
                let token = sign(&kind.claims(&network, expires_at, &id));
                // Longer than any link of the hub's.
                let is_long = token.len() > if matches!(kind, Kind::Artifact) { 512 } else { 1024 };
                let expected = if is_long {
                    403
                } else if expires_at <= NOW {
                    410
                } else {
                    404
                };
                assert_eq!(kind.status(hub, &token).await, expected, "{expires_at} {id}");
            }
            _ => {
                let mut token = genuine.clone();
                for change in rest.chunks_exact(2).take(8) {
                    let at = usize::from(change[0]) % token.len();
                    token[at] = change[1];
                }
                let status = kind.status(hub, &token).await;
                let is_expected = if token == genuine { status == expected } else { matches!(status, 400 | 403) };
                assert!(is_expected, "{status}");
            }
        }
    });
});

async fn upload(hub: &Hub, network: &Network) -> String {
    let request = Request::post("/api/manage/artifacts?name=a&version=1").header("x-service-api-key", &network.key);
    let answer = hub.send(request.body(Body::from("bytes")).expect("a request"), None).await;
    let answer = answer.expect("it waits for nothing").json();
    answer["artifactId"].as_str().expect("the artifact has an id").to_owned()
}
