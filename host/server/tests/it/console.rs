//! The console without a browser: doors, pages by role, forms.

mod build;
mod doors;
mod edits;
mod forms;
mod live;
mod modules;
mod pages;

use std::collections::BTreeMap;

use reqwest::redirect::Policy;
use reqwest::{Method, StatusCode};

use crate::people::PASSWORD;
use crate::support::{Client, Hub};

/// A browser without scripts, with its cookies.
pub struct Browser {
    http: reqwest::Client,
    base: String,
    cookies: BTreeMap<String, String>,
}

/// A page as the browser got it.
pub struct Page {
    pub status: StatusCode,
    pub headers: reqwest::header::HeaderMap,
    pub html: String,
}

impl Browser {
    pub fn new(hub: &Hub) -> Self {
        let url = hub.anonymous().request(Method::GET, "/").build().unwrap().url().clone();
        let http = hub::http_client::builder().unwrap().redirect(Policy::none()).build().unwrap();
        Self { http, base: url.as_str().trim_end_matches('/').to_owned(), cookies: BTreeMap::new() }
    }

    /// Signed in with the password of all tests.
    pub async fn signed_in(hub: &Hub, email: &str) -> Self {
        let mut browser = Self::new(hub);
        let page = browser.post("/console/sign-in", &[("email", email), ("password", PASSWORD)]).await;
        assert_eq!((page.status.as_u16(), page.location()), (303, "/console"), "{}", page.html);
        browser
    }

    pub fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        let cookies: Vec<_> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let request = self.http.request(method, format!("{}{path}", self.base));
        if cookies.is_empty() { request } else { request.header("Cookie", cookies.join("; ")) }
    }

    pub async fn send(&mut self, request: reqwest::RequestBuilder) -> Page {
        let response = request.send().await.unwrap();
        let (status, headers) = (response.status(), response.headers().clone());
        for set in headers.get_all("set-cookie") {
            let (pair, attributes) = set.to_str().unwrap().split_once(';').unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            if attributes.contains("Max-Age=0") {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        Page { status, headers, html: response.text().await.unwrap() }
    }

    pub async fn get(&mut self, path: &str) -> Page {
        let request = self.request(Method::GET, path);
        self.send(request).await
    }

    /// Sends a form that has just these fields.
    pub async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Page {
        let request = self.form(path, fields).header("Origin", self.base.clone());
        self.send(request).await
    }

    /// The request of a form, without saying where it comes from.
    pub fn form(&self, path: &str, fields: &[(&str, &str)]) -> reqwest::RequestBuilder {
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        self.request(Method::POST, path).header("Content-Type", "application/x-www-form-urlencoded").body(body)
    }

    /// Sends a form of a page, with its hidden fields.
    pub async fn submit(&mut self, page: &Page, action: &str, fields: &[(&str, &str)]) -> Page {
        let hidden = page.hidden(action);
        let mut all: Vec<_> = hidden.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        all.extend(fields);
        self.post(action, &all).await
    }
}

impl Page {
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status.as_u16(), status, "{}", self.html);
        self
    }

    pub fn location(&self) -> &str {
        self.headers.get("location").map_or("", |value| value.to_str().unwrap())
    }

    pub fn has(&self, text: &str) -> bool {
        self.html.contains(text)
    }

    /// Hidden fields of the form with this target.
    #[track_caller]
    pub fn hidden(&self, action: &str) -> Vec<(String, String)> {
        let start = format!("action=\"{action}\"");
        let (_, form) = self.html.split_once(&start).unwrap_or_else(|| panic!("no form to {action}: {}", self.html));
        let form = form.split("</form>").next().unwrap();
        let attribute = |input: &str, name: &str| {
            let (_, rest) = input.split_once(&format!("{name}=\""))?;
            let unescape = |text: &str| {
                text.replace("&quot;", "\"")
                    .replace("&lt;", "<")
                    .replace("&gt;", ">")
                    .replace("&#39;", "'")
                    .replace("&amp;", "&")
            };
            Some(unescape(rest.split('"').next()?))
        };
        let hidden = form.split("<input ").skip(1).filter(|input| input.starts_with("type=\"hidden\""));
        hidden.filter_map(|input| Some((attribute(input, "name")?, attribute(input, "value")?))).collect()
    }
}

/// The name of a network, as addresses have it.
pub async fn name_of(hub: &Hub, owner: &Client) -> String {
    let networks = hub.operator().await.get("/api/admin/networks?limit=200").await.expect(200).clone();
    let id = owner.network.unwrap().to_string();
    let found = networks["items"].as_array().unwrap().iter().find(|it| it["networkId"] == id.as_str());
    found.unwrap()["name"].as_str().unwrap().to_owned()
}
