//! Sign-ins that wait for the code of the second factor: sealed in a cookie of the browser that began them, so that any node
//! goes on with them.

use axum::http::{HeaderMap, HeaderValue};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use hub_core::app::App;
use hub_core::http::cookie;
use hub_core::secrets;
use serde::{Deserialize, Serialize};

use crate::refusal::Refusal;

const CONTEXT: &str = "console sign-in";
const PLAIN: &str = "hub_console_code";
const HOST: &str = "__Host-hub_console_code";
/// Time for the code.
const TTL: i64 = 5 * 60 * 1000;

/// A sign-in whose password was right.
#[derive(Serialize, Deserialize)]
pub(crate) struct Pending {
    pub(crate) email: String,
    pub(crate) password: String,
    /// Page that the person wanted.
    pub(crate) next: String,
    expires_at: i64,
}

impl Pending {
    pub(crate) fn new(app: &App, email: &str, password: &str, next: &str) -> Self {
        let (email, password, next) = (email.to_owned(), password.to_owned(), next.to_owned());
        Self { email, password, next, expires_at: app.clock.now().saturating_add(TTL) }
    }

    /// The browser's sign-in, if it is not over.
    pub(crate) fn find(app: &App, headers: &HeaderMap) -> Option<Self> {
        let sealed = BASE64.decode(cookie::find(headers, name(app))?).ok()?;
        let pending: Self = serde_json::from_slice(&secrets::unseal(app, CONTEXT, &sealed)?).ok()?;
        (app.clock.now() < pending.expires_at).then_some(pending)
    }

    pub(crate) fn cookie(&self, app: &App) -> Result<HeaderValue, Refusal> {
        let text = serde_json::to_vec(self).map_err(Refusal::fault)?;
        let sealed = secrets::seal(app, CONTEXT, &text).map_err(Refusal::fault)?;
        set(app, &BASE64.encode(sealed), TTL / 1000)
    }
}

/// A cookie that ends the browser's sign-in.
pub(crate) fn ended(app: &App) -> Result<HeaderValue, Refusal> {
    set(app, "", 0)
}

fn name(app: &App) -> &'static str {
    if app.settings.is_tls() { HOST } else { PLAIN }
}

fn set(app: &App, value: &str, seconds: i64) -> Result<HeaderValue, Refusal> {
    let secure = if app.settings.is_tls() { "; Secure" } else { "" };
    let text = format!("{}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}", name(app));
    HeaderValue::try_from(text).map_err(Refusal::fault)
}
