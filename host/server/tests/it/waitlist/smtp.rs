//! The waitlist with a real mail server.

use std::io::{BufRead as _, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::HOUR;
use crate::support::{Backend, Hub, certificate};

/// The Python with aiosmtpd.
fn python() -> PathBuf {
    match std::env::var_os("HUB_TEST_PYTHON") {
        Some(python) => python.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/python/bin/python"),
    }
}

pub struct MailServer {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    pub port: u16,
}

impl MailServer {
    pub fn start(arguments: &[&str]) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/smtp/server.py");
        let mut command = Command::new(python());
        command.arg(script).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("scripts/test makes the Python that the mail server needs");
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let port = lines.next().expect("the mail server prints its port").unwrap().parse().unwrap();
        Self { child, lines, port }
    }

    /// The next line about a mail.
    pub async fn next(mut self) -> (Self, Value) {
        let waiting = tokio::task::spawn_blocking(move || {
            let line = self.lines.next().expect("the mail server goes on").unwrap();
            (self, serde_json::from_str(&line).unwrap())
        });
        tokio::time::timeout(Duration::from_secs(30), waiting).await.expect("a mail in time").unwrap()
    }
}

impl Drop for MailServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub async fn hub_with(smtp: String) -> Hub {
    Hub::start_with(Backend::sqlite(), |settings| {
        settings.smtp = Some(smtp);
        "Example Games <hub@games.example>".clone_into(&mut settings.mail_from);
        settings.public_url = Some("https://hub.games.example".to_owned());
    })
    .await
}

async fn join(hub: &Hub) {
    hub.anonymous().post("/api/public/waitlist", json!({"email": "alex@example.org"})).await.expect(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mail_server_gets_the_mail_and_its_link_works() {
    let server = MailServer::start(&["--user", "hub", "--password", "p@ss:word"]);
    let hub = hub_with(format!("smtp://hub:p%40ss%3Aword@127.0.0.1:{}", server.port)).await;
    join(&hub).await;
    let (_server, mail) = server.next().await;
    assert_eq!((&mail["from"], &mail["to"]), (&json!("hub@games.example"), &json!(["alex@example.org"])));
    assert_eq!(mail["user"], "hub");
    let text = mail["mail"].as_str().unwrap().replace("=\r\n", "").replace("=3D", "=");
    let url = text.lines().find(|line| line.starts_with("https://hub.games.example/")).expect(&text);
    let path = url.strip_prefix("https://hub.games.example").unwrap();
    hub.anonymous().get(path).await.expect(200);
    hub.anonymous().get(path).await.expect_error(400, "token_used");
}

/// Waits until so many attempts have failed: the server says so before the hub has heard of it.
async fn has_failed(hub: &Hub, attempts: i64) {
    let failed = "SELECT COUNT(*) FROM jobs WHERE kind = 'waitlist-mail' AND node IS NULL AND attempts = $1";
    let count = async || hub.app.db.query(failed).bind(attempts).one::<(i64,)>().await.unwrap().0;
    Hub::eventually("the attempt has failed", async || count().await == 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_temporarily_refused_mail_is_retried() {
    let server = MailServer::start(&["--refuse", "2"]);
    let hub = hub_with(format!("smtp://127.0.0.1:{}", server.port)).await;
    join(&hub).await;
    let (server, refused) = server.next().await;
    assert_eq!(refused["refused"], json!(["alex@example.org"]));
    has_failed(&hub, 1).await;
    hub.advance_ms(60_000);
    let (server, refused) = server.next().await;
    assert_eq!(refused["refused"], json!(["alex@example.org"]));
    has_failed(&hub, 2).await;
    hub.advance_ms(120_000);
    let (_server, mail) = server.next().await;
    assert_eq!(mail["to"], json!(["alex@example.org"]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mail_outlives_the_absence_of_its_server_and_of_the_hub() {
    let port = MailServer::start(&[]).port;
    let hub = hub_with(format!("smtp://127.0.0.1:{port}")).await;
    join(&hub).await;
    let hub = hub.restart(Duration::ZERO).await;
    let server = MailServer::start(&["--port", &port.to_string()]);
    hub.advance_ms(HOUR);
    let (_server, mail) = server.next().await;
    assert_eq!(mail["to"], json!(["alex@example.org"]));
}

/// The built binary, which trusts only this certificate, sends one mail.
async fn mail_of_a_hub_that_trusts(certificate: &str, smtp: &str, server: MailServer) -> (MailServer, Value) {
    let data = TempDir::new().unwrap();
    let mut hub = Command::new(env!("CARGO_BIN_EXE_hub"))
        .args(["serve", "--listen", "127.0.0.1:0", "--data"])
        .arg(data.path())
        .env("HUB_SMTP", smtp)
        .env("SSL_CERT_FILE", certificate)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let first = BufReader::new(hub.stdout.take().unwrap()).lines().next().unwrap().unwrap();
    let url = first.strip_prefix("listening on ").unwrap().to_owned();
    let body = json!({"email": "alex@example.org"});
    let answer = hub::http_client::client()
        .unwrap()
        .post(format!("{url}/api/public/waitlist"))
        .json(&body)
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 200);
    let (server, mail) = server.next().await;
    // Without --public-url the link uses the address that the hub listens on.
    assert!(mail["mail"].as_str().unwrap().replace("=\r\n", "").contains(&url), "{mail}");
    hub.kill().unwrap();
    hub.wait().unwrap();
    (server, mail)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn starttls_and_smtps_work() {
    let folder = TempDir::new().unwrap();
    let (certificate, key) = certificate(folder.path());
    let with = ["--certificate", &certificate, "--key", &key, "--user", "hub", "--password", "secret"];
    for (option, url) in [
        ("--starttls", "smtp://hub:secret@localhost:PORT?tls=required"),
        ("--tls", "smtps://hub:secret@localhost:PORT"),
    ] {
        let server = MailServer::start(&[&[option], &with[..]].concat());
        let url = url.replace("PORT", &server.port.to_string());
        let (_server, mail) = mail_of_a_hub_that_trusts(&certificate, &url, server).await;
        assert_eq!((&mail["tls"], &mail["user"]), (&json!(true), &json!("hub")), "{option}");
    }
}
