//! A small OpenID provider that signs in every user at once, and lies when configured to.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};

use axum::extract::{Query, State};
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD as BASE64};
use hub::config::Settings;
use openidconnect::PrivateSigningKey as _;
use openidconnect::core::{CoreEdDsaPrivateSigningKey, CoreHmacKey, CoreJwsSigningAlgorithm};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::support::NOW;

pub const HUB: &str = "https://hub.example";
const CLIENT: &str = "network-hub";
const SECRET: &str = "a secret/with+signs";

type Parameters = HashMap<String, String>;

#[derive(Clone)]
pub struct Provider {
    pub address: SocketAddr,
    answers: Arc<Mutex<Answers>>,
}

#[derive(Clone)]
pub enum Signature {
    /// With this key, under the name of the published one.
    Key(u8),
    /// With the client's secret.
    Secret,
    Absent,
}

/// Its answers, which tests change.
#[derive(Clone)]
pub struct Answers {
    pub is_down: bool,
    pub published_key: u8,
    pub signature: Signature,
    /// Of the ID token, beside the standard ones or in their place; null: left out.
    pub claims: Value,
    /// Null: there is none.
    pub user_info: Value,
    /// Number of requests for its metadata.
    pub discoveries: usize,
    /// By code: nonce and challenge.
    codes: HashMap<String, (String, String)>,
}

fn key(seed: u8) -> CoreEdDsaPrivateSigningKey {
    // PKCS #8 of an Ed25519 key.
    let mut der = vec![0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];
    der.extend([seed; 32]);
    let pem = format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", BASE64_STANDARD.encode(der));
    CoreEdDsaPrivateSigningKey::from_ed25519_pem(&pem, None).unwrap()
}

impl Provider {
    pub async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let claims = json!({"sub": "7", "email": "alex@example.org", "email_verified": true, "name": "Alex"});
        let answers = Answers {
            is_down: false,
            published_key: 1,
            signature: Signature::Key(1),
            claims,
            user_info: Value::Null,
            discoveries: 0,
            codes: HashMap::new(),
        };
        let provider = Self { address: listener.local_addr().unwrap(), answers: Arc::new(Mutex::new(answers)) };
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(metadata))
            .route("/keys", get(keys))
            .route("/authorize", get(authorize))
            .route("/token", post(token))
            .route("/userinfo", get(user_info))
            .with_state(provider.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        provider
    }

    pub fn issuer(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Settings of a hub whose people sign in with it.
    pub fn apply(&self, settings: &mut Settings) {
        settings.public_url = Some(HUB.to_owned());
        settings.oidc_issuer = Some(self.issuer());
        settings.oidc_client_id = Some(CLIENT.to_owned());
        settings.oidc_client_secret = Some(SECRET.to_owned());
    }

    pub fn answers(&self) -> MutexGuard<'_, Answers> {
        self.answers.lock().unwrap()
    }

    /// Changes claims of the ID token.
    pub fn claim(&self, claims: Value) {
        let Value::Object(claims) = claims else { panic!("an object") };
        self.answers().claims.as_object_mut().unwrap().extend(claims);
    }
}

async fn metadata(State(provider): State<Provider>) -> Response {
    let issuer = provider.issuer();
    let mut answers = provider.answers();
    answers.discoveries += 1;
    if answers.is_down {
        return StatusCode::BAD_GATEWAY.into_response();
    }
    let mut metadata = json!({
        "issuer": issuer, "authorization_endpoint": format!("{issuer}/authorize"),
        "token_endpoint": format!("{issuer}/token"), "jwks_uri": format!("{issuer}/keys"),
        "response_types_supported": ["code"], "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["EdDSA", "HS256", "none"],
    });
    if !answers.user_info.is_null() {
        metadata["userinfo_endpoint"] = json!(format!("{issuer}/userinfo"));
    }
    Json(metadata).into_response()
}

async fn keys(State(provider): State<Provider>) -> Json<Value> {
    let published = provider.answers().published_key;
    let mut jwk = serde_json::to_value(key(published).as_verification_key()).unwrap();
    jwk["kid"] = json!(format!("key-{published}"));
    Json(json!({"keys": [jwk]}))
}

async fn authorize(State(provider): State<Provider>, Query(query): Query<Parameters>) -> Redirect {
    assert_eq!((&*query["response_type"], &*query["client_id"]), ("code", CLIENT));
    assert_eq!((&*query["code_challenge_method"], &*query["scope"]), ("S256", "openid email profile"));
    assert_eq!(query["redirect_uri"], format!("{HUB}/api/people/openid/callback"));
    let mut answers = provider.answers();
    let code = format!("code-{}", answers.codes.len());
    answers.codes.insert(code.clone(), (query["nonce"].clone(), query["code_challenge"].clone()));
    Redirect::to(&format!("{}?code={code}&state={}", query["redirect_uri"], query["state"]))
}

async fn token(State(provider): State<Provider>, headers: HeaderMap, body: String) -> Response {
    let form: Parameters = form_urlencoded::parse(body.as_bytes()).into_owned().collect();
    let basic = headers[AUTHORIZATION].to_str().unwrap().strip_prefix("Basic ").unwrap().to_owned();
    assert_eq!(BASE64_STANDARD.decode(basic).unwrap(), b"network-hub:a+secret%2Fwith%2Bsigns");
    let mut answers = provider.answers();
    let challenge_of = |verifier: &str| BASE64.encode(Sha256::digest(verifier));
    // Valid once.
    let code = answers.codes.get_mut(&form["code"]).map(std::mem::take);
    let Some((nonce, challenge)) = code.filter(|(_, challenge)| *challenge == challenge_of(&form["code_verifier"]))
    else {
        return (StatusCode::BAD_REQUEST, Json(json!({"error": "invalid_grant"}))).into_response();
    };
    assert!(!challenge.is_empty() && form["grant_type"] == "authorization_code");
    let seconds = NOW / 1000;
    let mut claims =
        json!({"iss": provider.issuer(), "aud": CLIENT, "exp": seconds + 3600, "iat": seconds, "nonce": nonce});
    claims.as_object_mut().unwrap().extend(answers.claims.as_object().unwrap().clone());
    claims.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    let id_token = sign(&answers, &claims);
    Json(json!({"access_token": "access", "token_type": "Bearer", "id_token": id_token})).into_response()
}

fn sign(answers: &Answers, claims: &Value) -> String {
    let algorithm = match answers.signature {
        Signature::Key(_) => "EdDSA",
        Signature::Secret => "HS256",
        Signature::Absent => "none",
    };
    let header = json!({"alg": algorithm, "typ": "JWT", "kid": format!("key-{}", answers.published_key)});
    let text = format!("{}.{}", BASE64.encode(header.to_string()), BASE64.encode(claims.to_string()));
    let signature = match answers.signature {
        Signature::Key(seed) => key(seed).sign(&CoreJwsSigningAlgorithm::EdDsa, text.as_bytes()).unwrap(),
        Signature::Secret => {
            CoreHmacKey::new(SECRET).sign(&CoreJwsSigningAlgorithm::HmacSha256, text.as_bytes()).unwrap()
        }
        Signature::Absent => vec![],
    };
    format!("{text}.{}", BASE64.encode(signature))
}

async fn user_info(State(provider): State<Provider>, headers: HeaderMap) -> Json<Value> {
    assert_eq!(headers[AUTHORIZATION], "Bearer access");
    Json(provider.answers().user_info.clone())
}
