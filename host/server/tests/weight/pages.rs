//! Pages of the console, each of the largest that the limits of a network allow.

use std::collections::{BTreeMap, BTreeSet};

use reqwest::redirect::Policy;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::scale::{LONGEST, Scale, size};
use crate::support::{Client, Hub};

const PLAYER: &str = "00000000-0000-4000-8000-000000000001";
const PASSWORD: &str = "correct horse battery";

/// Addresses of forms, files and doors, which show nothing of a network.
const SMALL: &[&str] = &[
    "/accept",
    "/accept/join",
    "/first",
    "/hub/audit/export",
    "/hub/audit/undo",
    "/language",
    "/n/{network}/audit/export",
    "/n/{network}/audit/undo",
    "/n/{network}/imports/file",
    "/n/{network}/players/{uuid}/export",
    "/password/lost",
    "/password/reset",
    "/reading-only",
    "/returned",
    "/sign-in",
    "/sign-in/code",
    "/sign-out",
];

/// Queries that show more than a page without one.
const QUERIES: &[(&str, &str)] = &[
    ("/n/{network}/chat", "search=m"),
    ("/n/{network}/collections", "collection=guilds"),
    ("/n/{network}/collections", "collection=guilds&id=d0"),
    ("/n/{network}/config", "group=g&namespace=n"),
    ("/n/{network}/leaderboards", "name=none"),
    ("/n/{network}/players", "search=p"),
    ("/n/{network}/players/{uuid}", "addresses=1"),
    ("/n/{network}/players/{uuid}/permissions", "node=0.1"),
    ("/n/{network}/punishments", "player=Alex"),
    ("/n/{network}/servers/{serverId}/history", "q=%01"),
];

/// A browser of a person who is signed in.
struct Browser {
    http: reqwest::Client,
    base: String,
    cookies: String,
}

impl Browser {
    /// A new person, who was invited.
    async fn new(hub: &Hub, email: &str) -> Self {
        let folder = hub.app.settings.data.join("outbox");
        let mut token = None;
        Hub::eventually("the mail is there", async || {
            let files = std::fs::read_dir(&folder).into_iter().flatten().map(|entry| entry.unwrap().path());
            let mails = files.filter(|path| path.extension().is_some_and(|kind| kind == "eml"));
            let mut mails = mails.map(|path| std::fs::read_to_string(path).unwrap());
            let mail = mails.find(|mail| mail.contains(&format!("To: {email}"))).unwrap_or_default();
            let is_code = |line: &&str| line.len() == 40 && line.bytes().all(|byte| byte.is_ascii_alphanumeric());
            token = mail.lines().map(str::trim).find(is_code).map(str::to_owned);
            token.is_some()
        })
        .await;
        let body = json!({"token": token, "name": "Alex", "password": PASSWORD});
        hub.anonymous().post("/api/people/accept", body).await.expect(200);
        let http = hub::http_client::builder().unwrap().redirect(Policy::none()).build().unwrap();
        let url = hub.anonymous().request(Method::GET, "/").build().unwrap().url().clone();
        let base = url.as_str().trim_end_matches('/').to_owned();
        let fields = [("email", email), ("password", PASSWORD)];
        let form = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let sign_in = http.post(format!("{base}/console/sign-in")).header("Origin", &base);
        let sign_in = sign_in.header("Content-Type", "application/x-www-form-urlencoded").body(form);
        let answer = sign_in.send().await.unwrap();
        assert_eq!(answer.status(), 303);
        let set = answer.headers().get_all("set-cookie").iter().map(|set| set.to_str().unwrap());
        let cookies = set.map(|set| set.split(';').next().unwrap()).collect::<Vec<_>>().join("; ");
        Self { http, base, cookies }
    }

    fn request(&self, page: &str) -> RequestBuilder {
        let request = self.http.get(format!("{}/console{page}", self.base)).header("Cookie", &self.cookies);
        request.header("Accept-Encoding", "gzip")
    }
}

/// Pages of these networks, of which each has some of the largest rows, and of the operator.
pub async fn weigh(scale: &mut Scale, networks: &[&Client]) {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/operate/console-pages.md");
    let list = std::fs::read_to_string(file).unwrap();
    let addresses = list.lines().filter_map(|line| line.strip_prefix("| `/console")?.split('`').next());
    let mut left: BTreeSet<&str> = addresses.collect();
    scale.check(left.len() > 60, format!("{} pages", left.len()));
    for small in SMALL {
        scale.check(left.remove(small), format!("no page {small}"));
    }
    let mut weighed = BTreeSet::new();
    for (at, client) in networks.iter().enumerate() {
        let email = format!("p{at}@example.org");
        client.post("/api/manage/people", json!({"email": email, "role": "OWNER"})).await.expect(201);
        let browser = Browser::new(&scale.hub, &email).await;
        let values = values(scale, client).await;
        for page in left.iter().filter(|page| !page.starts_with("/hub")) {
            let Some(path) = filled(page, &values) else { continue };
            weighed.insert(*page);
            open(scale, &browser, &path).await;
            for (_, query) in QUERIES.iter().filter(|(of, _)| of == page) {
                open(scale, &browser, &format!("{path}?{query}")).await;
            }
        }
    }
    let operator = scale.hub.operator().await;
    operator.post("/api/admin/people", json!({"email": "operator@example.org"})).await.expect(201);
    let browser = Browser::new(&scale.hub, "operator@example.org").await;
    let values = BTreeMap::from([("name", "default".to_owned())]);
    for page in left.iter().filter(|page| page.starts_with("/hub")) {
        weighed.insert(*page);
        open(scale, &browser, &filled(page, &values).unwrap()).await;
    }
    let left: Vec<_> = left.difference(&weighed).collect();
    scale.check(left.is_empty(), format!("not weighed: {left:?}"));
}

async fn open(scale: &mut Scale, browser: &Browser, page: &str) {
    let request = browser.request(page);
    let work = async move {
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), size(answer).await)
    };
    let shown: String = page.chars().take(60).collect();
    let (status, _) = scale.weigh(&format!("/console{shown}"), Some(LONGEST), work).await;
    scale.check(status == 200, format!("/console{page}: {status}"));
}

/// The address with its parameters; none if the network has no such thing.
fn filled(page: &str, values: &BTreeMap<&str, String>) -> Option<String> {
    let parts = page.split('/').map(|part| {
        let Some(name) = part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) else {
            return Some(part.to_owned());
        };
        // Roles and modules have one name for theirs.
        let name = if name == "name" && page.contains("/roles/") { "role" } else { name };
        values.get(name).map(|value| form_urlencoded::byte_serialize(value.as_bytes()).collect())
    });
    parts.collect::<Option<Vec<_>>>().map(|parts| parts.join("/"))
}

/// Parameters of pages: the first of each list, or the largest.
async fn values(scale: &Scale, client: &Client) -> BTreeMap<&'static str, String> {
    let operator = scale.hub.operator().await;
    let network = operator.get(&format!("/api/admin/networks/{}", client.network.unwrap())).await.expect(200).clone();
    let mut values = BTreeMap::from([("network", network["name"].as_str().unwrap().to_owned())]);
    values.insert("point", "chat".to_owned());
    // An import with as many notes as one keeps.
    let rows = format!("uuid,balance\n{PLAYER},1\n{}", "nobody,1\n".repeat(20_000));
    let upload = client.request(Method::POST, "/api/manage/imports?kind=balances&currency=coins").body(rows);
    let import = client.send(upload).await.expect(201)["importId"].as_str().unwrap().to_owned();
    let import = format!("/api/manage/imports/{import}");
    Hub::eventually("the import ends", async || !client.get(&import).await.expect(200)["finishedAt"].is_null()).await;
    let lists = [
        ("importId", "/api/manage/imports", "importId"),
        ("serverId", "/api/manage/servers", "serverId"),
        ("name", "/api/manage/modules", "name"),
        ("role", "/api/manage/roles", "name"),
        ("groupId", "/api/plugin/permissions/groups", "groupId"),
        ("id", "/api/manage/punishments", "id"),
        ("line", "/api/manage/matchmaking/lines", "line"),
        ("reportId", "/api/manage/reports", "reportId"),
        ("callId", "/api/manage/extension-points/chat/calls", "callId"),
        ("webhookId", "/api/manage/webhooks", "webhookId"),
    ];
    for (name, list, field) in lists {
        let list = client.get(list).await.expect(200).clone();
        let list = if list.is_array() { &list } else { &list["items"] };
        match &list[0][field] {
            Value::String(id) => values.insert(name, id.clone()),
            Value::Number(id) => values.insert(name, id.to_string()),
            _ => None,
        };
    }
    if let Some(hook) = values.get("webhookId") {
        let sent = client.get(&format!("/api/manage/webhooks/{hook}/deliveries")).await.expect(200).clone();
        values.insert("deliveryId", sent["items"][0]["deliveryId"].to_string().trim_matches('"').to_owned());
    }
    // The largest, where there are some.
    let data = format!("/api/plugin/players/{PLAYER}/data/global/n1");
    for (of, largest) in [
        ("/api/manage/servers/s1", [("serverId", "s1")].as_slice()),
        ("/api/manage/modules/m0", &[("name", "m0")]),
        (&data, &[("uuid", PLAYER), ("gameMode", "global"), ("namespace", "n1")]),
    ] {
        if client.get(of).await.status == 200 {
            values.extend(largest.iter().map(|(name, value)| (*name, (*value).to_owned())));
        }
    }
    values
}
