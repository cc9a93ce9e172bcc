//! The book at `/docs` and the reference of the API, for readers and for machines.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};

use crate::console::{Browser, Page};
use crate::support::{Backend, Hub, files, on_both};

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// Names of the Markdown files below `docs/`.
fn names() -> Vec<String> {
    let paths = files(&docs()).into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    paths.map(|path| path.strip_prefix(docs()).unwrap().to_str().unwrap().to_owned()).collect()
}

fn address(name: &str) -> String {
    let path = name.strip_suffix(".md").unwrap();
    let path = if path == "README" { "" } else { path.strip_suffix("/README").unwrap_or(path) };
    format!("/docs/{path}").trim_end_matches('/').to_owned()
}

/// Values of an attribute.
fn values(html: &str, attribute: &str) -> Vec<String> {
    let start = format!(" {attribute}=\"");
    let parts = html.split(&start).skip(1);
    parts.map(|part| part.split('"').next().unwrap().replace("&amp;", "&").replace("&#39;", "'")).collect()
}

#[track_caller]
fn check_policy(path: &str, page: &Page) {
    let policy = page.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.contains("default-src 'none'; script-src 'self'; style-src 'self'"), "{path}: {policy}");
    assert!(!policy.contains("unsafe"), "{path}: {policy}");
    for forbidden in ["<script>", "<style", " style=\"", " onclick=", "href=\"javascript:"] {
        assert!(!page.html.contains(forbidden), "{path} has {forbidden}");
    }
    assert_eq!(page.html.matches("<h1").count(), 1, "{path} has one title");
}

on_both! {
    async fn every_page_of_the_folder_is_in_the_book(hub: Hub) {
        let mut browser = Browser::new(&hub);
        for name in names() {
            let path = address(&name);
            let page = browser.get(&path).await.expect(200);
            check_policy(&path, &page);
            let tag = page.headers["etag"].to_str().unwrap().to_owned();
            let again = browser.request(Method::GET, &path).header("If-None-Match", &tag);
            let again = browser.send(again).await.expect(304);
            assert_eq!((again.html.as_str(), again.headers["etag"].to_str().unwrap()), ("", tag.as_str()));
            let source = browser.get(&format!("/docs/{name}")).await.expect(200);
            assert_eq!(source.headers["content-type"], "text/markdown; charset=utf-8");
            assert!(source.html == std::fs::read_to_string(docs().join(&name)).unwrap(), "{name} differs");
            assert!(page.has(&format!("href=\"/docs/{name}\"")), "{path} leads to its Markdown");
        }
        let compressed = browser.request(Method::GET, "/docs/operate/keys").header("Accept-Encoding", "gzip");
        let compressed = browser.send(compressed).await;
        assert_eq!(compressed.headers["content-encoding"], "gzip");
        assert_eq!(browser.get("/").await.expect(307).location(), "/docs");
        assert_eq!(browser.get("/docs/").await.expect(308).location(), "/docs");
    }

    async fn every_link_picture_and_anchor_of_the_book_resolves(hub: Hub) {
        let mut browser = Browser::new(&hub);
        let mut next = VecDeque::from(["/docs".to_owned(), "/docs/api".to_owned(), "/docs/search?q=ban".to_owned(), "/llms.txt".to_owned()]);
        let mut known: BTreeSet<_> = next.iter().cloned().collect();
        let (mut anchors, mut named) = (BTreeMap::new(), vec![]);
        while let Some(path) = next.pop_front() {
            let page = browser.get(&path).await;
            let is_console = path.starts_with("/console") && !path.starts_with("/console/assets");
            assert!(page.status == 200 || is_console && page.status == 303, "{path} is {}", page.status);
            if is_console || !page.headers["content-type"].to_str().unwrap().starts_with("text/html") {
                continue;
            }
            check_policy(&path, &page);
            anchors.insert(path.clone(), values(&page.html, "id").into_iter().collect::<BTreeSet<_>>());
            for target in values(&page.html, "href").into_iter().chain(values(&page.html, "src")) {
                // Icons stand at the top of the page; other sites are not asked.
                if target.starts_with("#i-") || target.contains("://") {
                    continue;
                }
                let (to, anchor) = target.split_once('#').map_or((target.as_str(), None), |(to, at)| (to, Some(at)));
                let to = if to.is_empty() { &path } else { to };
                assert!(to.starts_with('/'), "{path}: {target} is relative");
                named.extend(anchor.map(|anchor| (path.clone(), to.to_owned(), anchor.to_owned())));
                if known.insert(to.to_owned()) {
                    next.push_back(to.to_owned());
                }
            }
        }
        let lacking: Vec<_> = named.iter().filter(|(_, to, anchor)| anchors.get(to).is_none_or(|all| !all.contains(anchor))).collect();
        assert!(lacking.is_empty(), "links to anchors that are not there: {lacking:#?}");
        let lost: Vec<_> = names().iter().map(|name| address(name)).filter(|page| !anchors.contains_key(page)).collect();
        assert!(lost.is_empty(), "pages to which no link leads: {lost:?}");
        let document = hub.anonymous().get("/api/openapi.json").await.expect(200).clone();
        for operation in document["paths"].as_object().unwrap().values().flat_map(|item| item.as_object().unwrap().values()) {
            let path = format!("/docs/api/{}", operation["operationId"].as_str().unwrap());
            assert!(anchors.contains_key(&path), "no link leads to {path}");
        }
    }

    async fn search_finds_pages_headings_and_operations(hub: Hub) {
        let mut browser = Browser::new(&hub);
        let page = browser.get("/docs/search?q=ban").await.expect(200);
        assert!(page.has("/docs/operate/moderation") && page.has("<mark>") && page.has("/docs/api?q=ban"), "{}", page.html);
        let page = browser.get("/docs/search?q=offline+after+heartbeat").await.expect(200);
        assert!(page.has("<ol class=\"found\">\n<li>"), "{}", page.html);
        let page = browser.get("/docs/search?q=%3Cscript%3Ealert(1)%3C/script%3E%22").await.expect(200);
        assert!(!page.has("<script>alert") && page.has("&lt;script&gt;"), "{}", page.html);
        let long = browser.get(&format!("/docs/search?q={}", "a%20".repeat(1_500))).await.expect(200);
        assert!(long.html.len() < 200_000);
        browser.get("/docs/search?q=%FF%00&q=&&&==").await.expect(200);
        let page = browser.get("/docs/api?q=ban").await.expect(200);
        assert!(page.has("/docs/api/createPunishment") || page.has("/docs/api/issuePunishment"), "{}", page.html);
        assert!(!page.has("/docs/api/registerServer\""), "{}", page.html);
        let page = browser.get("/docs/api?q=qqqqqq").await.expect(200);
        assert!(page.has("No operation has these words"));
        let page = browser.get("/docs/operate/webhoks-of-networks").await.expect(404);
        check_policy("404", &page);
        assert!(page.has("name=\"q\"") && page.has("No such page"));
        assert!(browser.get("/docs/api/nothing").await.expect(404).has("No such page"));
    }

    async fn operations_show_what_a_caller_needs(hub: Hub) {
        let mut browser = Browser::new(&hub);
        let page = browser.get("/docs/api/findMatch").await.expect(200);
        for text in ["POST", "/api/plugin/matchmaking/find", "matchmaking", "playerUuid", "serverType", "Connectors",
            "curl -s -X POST", "HubClient.fromEnvironment()", "from networkhub import HubClient", "HubClient.create(",
            ".request(Method::POST, ", "matchedServer", "429", "Try it"] {
            let text = text.replace('&', "&amp;").replace('"', "&quot;");
            assert!(page.has(&text), "{text}: {}", page.html);
        }
        assert!(browser.get("/docs/api/createNetwork").await.expect(200).has("Operator"));
        let stream = browser.get("/docs/api").await.expect(200);
        assert!(stream.has("Event stream") || stream.has("event stream"));
        // The address of the interface's page.
        let first = browser.get("/api").await.expect(200);
        assert!(first.has("API reference") && first.html == stream.html);
        assert!(browser.get("/console/sign-in").await.expect(200).has("href=\"/docs\""));
    }

    async fn machines_read_the_whole_book(hub: Hub) {
        let mut browser = Browser::new(&hub);
        let list = browser.get("/llms.txt").await.expect(200);
        assert_eq!(list.headers["content-type"], "text/plain; charset=utf-8");
        assert!(list.html.starts_with("# Network Hub") && list.has("\n> "), "{}", list.html);
        let whole = browser.get("/docs/llms-full.txt").await.expect(200);
        for name in names() {
            let line = list.html.lines().find(|line| line.contains(&format!("](/docs/{name}): ")));
            assert!(line.is_some_and(|line| line.split("): ").nth(1).is_some_and(|text| text.len() > 3)), "{name}: {line:?}");
            if name != "README.md" {
                assert!(whole.has(&format!("Source: /docs/{name}\n")), "{name}");
            }
        }
    }

    async fn nothing_but_the_folder_can_be_read(hub: Hub) {
        let mut browser = Browser::new(&hub);
        for path in [
            "/docs/..%2fCargo.toml", "/docs/%2e%2e%2fCargo.toml", "/docs/operate/..%2f..%2f..%2fetc/passwd", "/docs/%2fetc%2fpasswd",
            "/docs/operate%5c..%5ckeys.md", "/docs/operate", "/docs/keys.md", "/docs/operate/keys.md/", "/docs/assets/x/..%2f..%2fCargo.toml",
            "/docs/assets/x/nothing.css", "/docs/operate/keys.md%00", "/docs/connectors/samples",
        ] {
            let page = browser.get(path).await;
            assert_eq!(page.status, 404, "{path}: {}", page.html);
        }
        // A client that does not tidy the path.
        let address = browser.request(Method::GET, "/").build().unwrap().url().clone();
        let mut stream = tokio::net::TcpStream::connect((address.host_str().unwrap(), address.port().unwrap())).await.unwrap();
        stream.write_all(b"GET /docs/../Cargo.toml HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
    }

    async fn the_book_is_no_part_of_the_document(hub: Hub) {
        let document = hub.anonymous().get("/api/openapi.json").await.expect(200).clone();
        let paths: Vec<_> = document["paths"].as_object().unwrap().keys().filter(|path| path.starts_with("/docs") || path.starts_with("/llms")).collect();
        assert!(paths.is_empty(), "{paths:?}");
        assert!(Value::is_object(&document["info"]));
    }
}

/// The sample of `docs/connectors/wire.md` runs, and sends what the page shows.
#[tokio::test]
async fn the_connector_of_the_page_about_the_wire_runs() {
    use std::process::Stdio;

    let hub = Hub::start(Backend::sqlite()).await;
    let network = hub.network().await;
    let text = std::fs::read_to_string(docs().join("connectors/wire.md")).unwrap();
    let block = text.split("```text\n").nth(1).unwrap().split("```").next().unwrap();
    let player = "069a79f4-44e9-4726-a5be-fca90e38aaf5";
    let mut child = tokio::process::Command::new("python3")
        .arg(docs().join("connectors/samples/wire.py"))
        .arg("wire-1")
        .env("HUB_URL", hub.url())
        .env("HUB_KEY", network.key.as_deref().unwrap())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut seen = vec![];
    let mut until = async |text: &str| {
        loop {
            let line = lines.next_line().await.unwrap().unwrap_or_else(|| panic!("it ended before {text}"));
            let found = line.contains(text);
            seen.push(line);
            if found {
                return;
            }
        }
    };
    input.write_all(format!("join {player} Notch\n").as_bytes()).await.unwrap();
    until("/api/plugin/servers/players ").await;
    // Its stream is open once a command reaches it.
    Hub::eventually("an answer to a console command", async || {
        let answer = network.post("/api/manage/servers/wire-1/command", json!({"command": "hello"})).await;
        answer.status == 200 && answer.body["output"] == "you said hello"
    })
    .await;
    until("command-result").await;
    input.write_all(format!("say {player} Notch good evening\n").as_bytes()).await.unwrap();
    until("<- {\"type\": \"CHAT\"").await;
    input.write_all(format!("leave {player}\n").as_bytes()).await.unwrap();
    drop(input);
    until("/unregister").await;
    assert!(child.wait().await.unwrap().success());
    for line in block.lines() {
        assert!(seen.iter().any(|sent| sent == line), "the page shows what was not sent: {line}\n{seen:#?}");
    }
}
