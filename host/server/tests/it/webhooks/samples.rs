//! The receivers in `docs/operate/samples` take what the hub sends and nothing else, and the page shows them as they are.

use std::process::Stdio;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hub::clock::Clock;
use hub_testing::ports::free_port;
use ring::hmac;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use super::{add, expect_requests, publish, receiver, start};
use crate::support::Backend;

const SAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operate/samples");
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// A request signed like by the hub.
fn signed(secret: &str, id: &str, timestamp: i64, body: &str) -> [(&'static str, String); 3] {
    let key = BASE64_STANDARD.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
    let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
    let mac = BASE64_STANDARD.encode(hmac::sign(&key, format!("{id}.{timestamp}.{body}").as_bytes()));
    [
        ("webhook-id", id.to_owned()),
        ("webhook-timestamp", timestamp.to_string()),
        ("webhook-signature", format!("v1,AAAA v1,{mac}")),
    ]
}

async fn run(program: &str, sample: &str) -> (Child, Lines<BufReader<ChildStdout>>, String) {
    let port = free_port();
    let mut command = Command::new(program);
    command.arg(format!("{SAMPLES}/{sample}")).arg(port.to_string()).env("HUB_WEBHOOK_SECRET", SECRET);
    let mut child = command.stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.next_line().await.unwrap().unwrap(), format!("listening on {port}"));
    (child, lines, format!("http://127.0.0.1:{port}/"))
}

#[tokio::test]
async fn the_samples_accept_a_signed_request_once() {
    let now = Clock::System.now() / 1_000;
    let body = r#"{"type":"CHAT","timestamp":"2027-03-10T12:00:00.000Z","data":{"message":"é"}}"#;
    let http = hub::http_client::client().unwrap();
    for (program, sample) in [("python3", "verify_webhook.py"), ("node", "verify_webhook.mjs")] {
        let (_child, mut lines, url) = run(program, sample).await;
        let send = async |headers: [(&'static str, String); 3], body: &str| {
            let request = http.post(&url).body(body.to_owned());
            let request = headers.into_iter().fold(request, |request, (name, value)| request.header(name, value));
            request.send().await.unwrap().status().as_u16()
        };
        assert_eq!(send(signed(SECRET, "m-1", now, body), body).await, 200, "{sample}");
        assert_eq!(send(signed(SECRET, "m-1", now, body), body).await, 200, "{sample}: again");
        assert_eq!(send(signed(SECRET, "m-2", now, body), &body.replace('é', "e")).await, 400, "{sample}: forged");
        assert_eq!(send(signed(SECRET, "m-2", now - 301, body), body).await, 400, "{sample}: old");
        let other = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
        assert_eq!(send(signed(other, "m-2", now, body), body).await, 400, "{sample}: another secret");
        assert_eq!(send(signed(SECRET, "m-3", now, body), body).await, 200, "{sample}");
        for _ in ["m-1", "m-3"] {
            let line = lines.next_line().await.unwrap().unwrap();
            assert!(line.starts_with("CHAT {"), "{sample}: {line}");
        }
    }
}

#[tokio::test]
async fn the_samples_verify_the_hubs_requests() {
    let hub = start(Backend::sqlite()).await;
    let (owner, receiver) = (hub.network().await, receiver().await);
    let (_, secret) = add(&owner, &receiver.url(), &["CONFIG_UPDATED"]).await;
    publish(&owner, "é\u{1f3f0}").await;
    expect_requests(&receiver, 1).await;
    let request = receiver.received().remove(0);
    let names = ["webhook-id", "webhook-timestamp", "webhook-signature"];
    let headers = serde_json::json!(
        names.map(|name| (name, request.header(name))).into_iter().collect::<std::collections::BTreeMap<_, _>>()
    );
    let input = serde_json::json!({"secret": secret, "headers": headers, "body": request.text}).to_string();
    let python = "import json, os; from verify_webhook import verify; it = json.loads(os.environ['INPUT'])
print(verify(it['secret'], it['headers'], it['body'].encode(), int(it['headers']['webhook-timestamp']))['type'])";
    let node = "import { verify } from './verify_webhook.mjs'; const it = JSON.parse(process.env.INPUT);
console.log(verify(it.secret, it.headers, Buffer.from(it.body), Number(it.headers['webhook-timestamp'])).type)";
    for (program, arguments) in [("python3", vec!["-c", python]), ("node", vec!["--input-type=module", "-e", node])] {
        let output =
            Command::new(program).args(arguments).env("INPUT", &input).current_dir(SAMPLES).output().await.unwrap();
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(printed.trim(), "CONFIG_UPDATED", "{program}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn the_page_shows_the_samples() {
    let page = std::fs::read_to_string(format!("{SAMPLES}/../webhooks.md")).unwrap();
    for (language, sample) in [("python", "verify_webhook.py"), ("javascript", "verify_webhook.mjs")] {
        let source = std::fs::read_to_string(format!("{SAMPLES}/{sample}")).unwrap();
        let shown = page.split(&format!("```{language}\n")).nth(1).unwrap().split("```").next().unwrap();
        assert!(shown.lines().count() > 5 && source.contains(shown), "{sample}");
    }
}
