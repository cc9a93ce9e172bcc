//! A request to the console: who sent it, and what for.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use axum::body::{Body, to_bytes};
use axum::extract::{FromRequest, FromRequestParts as _, RawPathParams, Request};
use axum::http::header::{ACCEPT_ENCODING, ACCEPT_LANGUAGE, ETAG, IF_MATCH};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode};
use axum::response::Response;
use hub_core::auth::{Scope, Scopes, csrf_token};
use hub_core::http::cookie;
use hub_core::http::request_id::RequestId;
use serde_json::{Map, Value, json};

use crate::Console;
use crate::answer::{self, Page, Reader};
use crate::door::{self, Answer, Sender};
use crate::form::Form;
use crate::language::Language;
use crate::refusal::Refusal;

/// Maximum size of a form, and of one by somebody without a session: an e-mail address and a password.
const MOST_BYTES: usize = 512 << 10;
const MOST_BYTES_OF_STRANGER: usize = 16 << 10;
pub(crate) const LANGUAGE_COOKIE: &str = "hub_language";
/// Browser that only reads: set by its person, for all networks.
pub(crate) const LOCK_COOKIE: &str = "hub_reading_only";
static IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Scopes that decide what a page shows, by their names in templates.
const SCOPES: [(&str, Scope); 17] = [
    ("manage", Scope::NetworkManage),
    ("control", Scope::ServersControl),
    ("servers", Scope::ServersRead),
    ("players", Scope::PlayersWrite),
    ("punish", Scope::PunishmentsWrite),
    ("modules", Scope::ModulesRead),
    ("build", Scope::ModulesWrite),
    ("plugin", Scope::Plugin),
    ("reports", Scope::ReportsManage),
    ("judge", Scope::PunishmentsManage),
    ("deliveries", Scope::DeliveriesManage),
    ("lines", Scope::LinesManage),
    ("audit", Scope::AuditRead),
    ("economy", Scope::EconomyWrite),
    ("permissions", Scope::PermissionsWrite),
    ("records", Scope::PlayersRead),
    ("chat", Scope::ChatRead),
];

/// Words of pages after their forms, which an address may ask for.
pub(crate) const DONE: &[&str] = &[
    "Started",
    "Stopped",
    "Restarted",
    "Killed",
    "Sent",
    "Punished",
    "Revoked",
    "Invited",
    "Changed",
    "Removed",
    "Rolled back",
    "Password changed",
    "Second factor removed",
    "signed-out",
    "password",
    "Saved",
    "Decided",
    "Offered again",
    "Taken back",
    "Confirmed",
    "Deleted",
    "Undone",
    "Cancelled",
    "Released",
    "Imported",
    "Restored",
    "Uploaded",
    "Erased",
    "Retried",
    "Renamed",
    "Session ended",
    "Signed out elsewhere",
];

/// Bytes of a query that a sign-in leads back to.
const LONGEST_QUERY: usize = 1_000;

/// A request to the console.
#[derive(Clone)]
pub(crate) struct Visit {
    pub(crate) console: Console,
    pub(crate) sender: Sender,
    pub(crate) path: String,
    /// True if this browser only reads.
    pub(crate) is_locked: bool,
    /// Parameters of the path.
    pub(crate) params: BTreeMap<String, String>,
    /// Parameters of the query; blank ones are left out.
    pub(crate) query: BTreeMap<String, String>,
    pub(crate) form: Form,
    reader: Reader,
    request_id: String,
    /// The signed-in person, once asked for.
    me: Value,
    /// The person's network at this address.
    network: Value,
    /// Numbers of what waits for a person, beside the entries of the menu.
    counts: Value,
    /// Reason for which the form on this page was refused.
    pub(crate) problem: Option<Refusal>,
    /// Answer to the form on this page, where it is shown only once.
    pub(crate) result: Value,
}

impl Visit {
    /// A visit without its form.
    pub(crate) fn of(parts: &Parts, console: Console) -> Self {
        let text =
            |name: &HeaderName| parts.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let chosen = cookie::find(&parts.headers, LANGUAGE_COOKIE);
        let query = form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes());
        let request_id = parts.extensions.get::<RequestId>().map(|id| id.as_str().to_owned());
        Self {
            sender: Sender::of(parts, &console.app),
            path: parts.uri.path().to_owned(),
            is_locked: cookie::find(&parts.headers, LOCK_COOKIE).is_some(),
            params: BTreeMap::new(),
            query: query.into_owned().filter(|(_, value)| !value.trim().is_empty()).collect(),
            form: Form::default(),
            reader: Reader {
                language: Language::choose(chosen, text(&ACCEPT_LANGUAGE)),
                takes_gzip: text(&ACCEPT_ENCODING).contains("gzip"),
            },
            request_id: request_id.unwrap_or_default(),
            me: Value::Null,
            network: Value::Null,
            counts: Value::Null,
            problem: None,
            result: Value::Null,
            console,
        }
    }

    /// The same, with the parameters of its address.
    pub(crate) async fn opened(parts: &mut Parts, console: &Console) -> Self {
        let mut visit = Self::of(parts, console.clone());
        if let Ok(params) = RawPathParams::from_request_parts(parts, console).await {
            visit.params = params.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        }
        visit
    }

    /// Asks who the person is, and enters the network of the address.
    pub(crate) async fn enter(&mut self) -> Result<(), Refusal> {
        self.me = self.get("/api/people/me", &[]).await?;
        let Some(name) = self.params.get("network") else { return Ok(()) };
        let mut networks = self.me["networks"].as_array().into_iter().flatten();
        let network = networks.find(|network| network["name"].as_str() == Some(name)).cloned();
        self.network = network.ok_or_else(Refusal::not_found)?;
        let id = self.network["networkId"].as_str().unwrap_or_default().to_owned();
        self.sender.set(&door::NETWORK, &id);
        Ok(())
    }

    /// Reads the numbers of the menu. A page is shown without them, too.
    pub(crate) async fn count(&mut self) {
        if !self.network.is_null() {
            self.counts = self.get("/api/manage/counts", &[]).await.unwrap_or_default();
        }
    }

    pub(crate) fn me(&self) -> &Value {
        &self.me
    }

    /// Reads a route. Its parameters in braces are those of this page's address.
    pub(crate) async fn get(&self, route: &str, query: &[(&str, &str)]) -> Result<Value, Refusal> {
        let path = self.fill(route, query);
        Ok(self.console.door.send(&self.sender, Method::GET, &path, None, &[]).await?.body)
    }

    /// The same for a part of a page, which is null where the person may not see it.
    pub(crate) async fn part(&self, route: &str, query: &[(&str, &str)]) -> Result<Value, Refusal> {
        match self.get(route, query).await {
            Err(refusal) if refusal.leaves_out() => Ok(Value::Null),
            answer => answer,
        }
    }

    /// Reads a route that has its value's revision as `ETag`.
    pub(crate) async fn get_with_revision(&self, route: &str) -> Result<(Value, Option<String>), Refusal> {
        let path = self.fill(route, &[]);
        let answer = self.console.door.send(&self.sender, Method::GET, &path, None, &[]).await?;
        let revision = answer.headers.get(ETAG).and_then(|tag| tag.to_str().ok()).map(str::to_owned);
        Ok((answer.body, revision))
    }

    /// Sends the form of this page to a route.
    pub(crate) async fn send(&mut self, method: Method, route: &str, body: Option<&Value>) -> Result<Answer, Refusal> {
        self.send_from(method, route, body, None).await
    }

    /// The same, for a change that was made from a revision: another one is refused.
    pub(crate) async fn send_from(
        &mut self,
        method: Method,
        route: &str,
        body: Option<&Value>,
        revision: Option<&str>,
    ) -> Result<Answer, Refusal> {
        let csrf = self.form.exact("csrf").unwrap_or_default().to_owned();
        self.sender.set(&door::CSRF, &csrf);
        let path = self.fill(route, &[]);
        let key = self.form.get("idempotency").and_then(|key| HeaderValue::from_str(key).ok());
        let key = key.filter(|_| method == Method::POST).map(|key| (IDEMPOTENCY_KEY.clone(), key));
        let revision = revision.and_then(|revision| HeaderValue::from_str(revision).ok());
        let headers: Vec<_> = key.into_iter().chain(revision.map(|revision| (IF_MATCH, revision))).collect();
        self.console.door.send(&self.sender, method, &path, body, &headers).await
    }

    /// Sends the file of this page's form to a route.
    pub(crate) async fn upload(&mut self, route: &str, query: &[(&str, &str)], file: Body) -> Result<Answer, Refusal> {
        let csrf = self.form.exact("csrf").unwrap_or_default().to_owned();
        self.sender.set(&door::CSRF, &csrf);
        let path = self.fill(route, query);
        self.console.door.upload(&self.sender, &path, file).await
    }

    /// The address of a route: parameters in braces come from this page's address, or else from its form.
    pub(crate) fn fill(&self, route: &str, query: &[(&str, &str)]) -> String {
        let mut path = String::with_capacity(route.len() + 40);
        for (at, part) in route.split('{').enumerate() {
            let (name, rest) = if at == 0 { ("", part) } else { part.split_once('}').unwrap_or((part, "")) };
            let value = self.params.get(name).map(String::as_str).or_else(|| self.form.get(name));
            path.push_str(&encode(value.unwrap_or_default()));
            path.push_str(rest);
        }
        let query: Vec<_> = query.iter().filter(|(_, value)| !value.is_empty()).collect();
        for (at, (name, value)) in query.into_iter().enumerate() {
            path.push(if at == 0 && !path.contains('?') { '?' } else { '&' });
            let _ = write!(path, "{name}={}", encode(value));
        }
        path
    }

    /// A parameter of the query, or nothing.
    pub(crate) fn query(&self, name: &str) -> &str {
        self.query.get(name).map_or("", String::as_str)
    }

    /// Token for this page's forms.
    fn csrf(&self) -> Option<String> {
        self.sender.session.as_deref().map(csrf_token)
    }

    /// Scopes of the person in this network: of a given role, or of one of the network's own.
    fn scopes(&self) -> Scopes {
        let own = self.network["scopes"].as_array().into_iter().flatten();
        own.filter_map(|scope| scope.as_str()?.parse::<Scope>().ok()).collect()
    }

    /// Values that every template may use, beside the data of its page.
    fn context(&self, data: Value) -> Value {
        let scopes = self.scopes();
        let may: Map<_, _> =
            SCOPES.iter().map(|(name, scope)| ((*name).to_owned(), json!(scopes.allow(*scope)))).collect();
        let base = match self.params.get("network") {
            Some(name) => format!("/console/n/{}", encode(name)),
            None => "/console".to_owned(),
        };
        let mut context = json!({
            "path": self.path, "query": self.query, "params": self.params, "form": self.form.shown(),
            "me": self.me, "network": self.network, "counts": self.counts, "may": may, "base": base,
            "csrf": self.csrf(), "idempotency": self.console.app.ids.token(24),
            "done": DONE.iter().find(|word| **word == self.query("done")),
            "problem": self.problem, "result": self.result, "requestId": self.request_id,
            "language": self.reader.language.code(), "locked": self.is_locked, "now": self.console.app.clock.now(),
        });
        if let (Value::Object(context), Value::Object(data)) = (&mut context, data) {
            context.extend(data);
        }
        context
    }

    /// Renders a page. One whose form was refused has the status of the refusal.
    pub(crate) fn render(&self, template: &str, data: Value) -> Response {
        let status = self.problem.as_ref().map(|problem| problem.status).unwrap_or_default();
        let network = serde_json::from_value(self.network["networkId"].clone()).ok();
        answer::page(
            Page { reader: self.reader, template: template.to_owned(), context: self.context(data), network },
            status,
        )
    }

    /// Path with its query, which may hold the code that a device shows; without one that is long, since a cookie keeps it.
    fn address(&self) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        let query = query.extend_pairs(&self.query).finish();
        if (1..=LONGEST_QUERY).contains(&query.len()) { format!("{}?{query}", self.path) } else { self.path.clone() }
    }

    /// Answers a refusal: strangers go to the sign-in, all others see why.
    pub(crate) async fn refused(mut self, refusal: &Refusal) -> Response {
        if refusal.is_of_stranger() {
            return answer::see_other(&format!("/console/sign-in?next={}", encode(&self.address())), &[]);
        }
        if self.me.is_null() && self.sender.session.is_some() {
            // The page of a person who is signed in has their name on it.
            self.me = self.get("/api/people/me", &[]).await.unwrap_or_default();
        }
        self.problem = Some(refusal.clone());
        // These pages show no form again.
        self.form = Form::default();
        let template = if self.me.is_null() { "door-error.html" } else { "error.html" };
        self.render(template, json!({}))
    }
}

impl FromRequest<Console> for Visit {
    type Rejection = StatusCode;

    async fn from_request(request: Request, console: &Console) -> Result<Self, StatusCode> {
        let (mut parts, body) = request.into_parts();
        let mut visit = Self::opened(&mut parts, console).await;
        if !parts.method.is_safe() {
            let most = if visit.sender.session.is_some() { MOST_BYTES } else { MOST_BYTES_OF_STRANGER };
            let bytes = to_bytes(body, most).await;
            let bytes = bytes.map_err(|_| StatusCode::PAYLOAD_TOO_LARGE)?;
            visit.form = Form::parse(&bytes).ok_or(StatusCode::PAYLOAD_TOO_LARGE)?;
        }
        Ok(visit)
    }
}

/// Percent-encodes a value for a path or a query.
pub(crate) fn encode(value: &str) -> String {
    form_urlencoded::byte_serialize(value.as_bytes()).collect::<String>().replace('+', "%20")
}
