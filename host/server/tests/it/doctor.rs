//! `hub admin doctor`: each of its checks fails on its fault, and suggests a fix.

use std::collections::BTreeMap;
use std::fs::File;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use axum::Router;
use axum::routing::get;
use hub::config::Settings;
use hub::data_folder;
use hub_db::Sql;
use hub_testing::ports::free_port;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpListener;

use crate::cli::Installation;
use crate::https::proxy;
use crate::support::{Backend, Hub, S3, certificate, on_each};

/// The checks by their names, and the exit status.
struct Report {
    status: i32,
    checks: BTreeMap<String, Value>,
}

impl Report {
    #[track_caller]
    fn expect(&self, name: &str, outcome: &str, part: &str) {
        let check = self.checks.get(name).unwrap_or_else(|| panic!("no check {name}: {:?}", self.checks));
        assert_eq!(check["outcome"], outcome, "{check}");
        assert!(check["message"].as_str().unwrap().contains(part), "{check}");
        assert_eq!(check["advice"].is_string(), outcome == "FAILED", "{check}");
    }

    /// Checks that nothing else fails.
    #[track_caller]
    fn only_fails(&self, name: &str, part: &str) {
        self.expect(name, "FAILED", part);
        let failed: Vec<_> = self.checks.iter().filter(|(_, check)| check["outcome"] == "FAILED").collect();
        assert_eq!(failed.len(), 1, "{failed:?}");
        assert_eq!(self.status, 1);
    }
}

async fn doctor_with(backend: &Backend, arguments: &[&str], environment: &[(&str, &str)]) -> Report {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hub"));
    command.args(["admin", "doctor", "--json"]).args(backend.options()).args(arguments);
    command.envs(environment.iter().copied());
    report(command, arguments).await
}

async fn report(mut command: Command, arguments: &[&str]) -> Report {
    if !arguments.contains(&"--min-free") {
        command.args(["--min-free", "1"]);
    }
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let json: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    let checks = json["checks"].as_array().unwrap().iter();
    let checks: BTreeMap<_, _> = checks.map(|it| (it["name"].as_str().unwrap().to_owned(), it.clone())).collect();
    let status = output.status.code().unwrap();
    assert_eq!(json["ok"], status == 0);
    Report { status, checks }
}

async fn doctor(backend: &Backend, arguments: &[&str]) -> Report {
    doctor_with(backend, arguments, &[]).await
}

/// Runs the doctor of a hub in this folder.
async fn doctor_in(folder: &Path) -> Report {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hub"));
    command.args(["admin", "doctor", "--json", "--data"]).arg(folder);
    report(command, &[]).await
}

/// Makes this process the one that serves from the folder, at this address.
fn serving(backend: &Backend, address: SocketAddr) -> File {
    let mut settings = Settings { listen: address.into(), ..Settings::default() };
    backend.apply(&mut settings);
    data_folder::lock(&settings).unwrap().unwrap()
}

async fn a_hub_that_is_well(backend: Backend) {
    let hub = Hub::start(backend.clone()).await;
    let _serving = serving(&backend, hub.address());
    let report = doctor(&backend, &["--public-url", &hub.url()]).await;
    assert_eq!(report.status, 0, "{:?}", report.checks);
    for name in ["data-folder", "disk", "clock", "database", "migrations", "blobs", "restore", "nodes", "breakers"] {
        report.expect(name, "OK", "");
    }
    report.expect("readiness", "OK", "is ready");
    report.expect("public-url", "OK", "leads to a hub");
    report.expect("bus", "SKIPPED", "single node");
    report.expect("mail", "SKIPPED", "outbox");
    report.expect("certificate", "SKIPPED", "not use TLS");
    let clock = if hub.app.db.backend() == hub_db::Backend::Sqlite { "SKIPPED" } else { "OK" };
    report.expect("database-clock", clock, "");
    assert!(hub.blobs().is_empty(), "the doctor left something");
    // Text output.
    let mut command = Command::new(env!("CARGO_BIN_EXE_hub"));
    command.args(["admin", "doctor", "--min-free", "999999999999"]).args(backend.options());
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text.contains("FAILED   disk") && text.contains("→ free disk space"), "{text}");
}

async fn the_machine(backend: Backend) {
    Hub::start(backend.clone()).await.stop().await;
    let folder = backend.data().to_owned();
    let allow = |mode| std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(mode)).unwrap();
    allow(0o755);
    doctor(&backend, &[]).await.only_fails("data-folder", "other users can access");
    allow(0o700);
    doctor(&backend, &["--min-free", "999999999999"]).await.only_fails("disk", "minimum 999999999999 MiB");
    let nowhere = doctor(&backend, &["--blobs", "/proc/nowhere"]).await;
    nowhere.only_fails("blobs", "/proc/nowhere");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_clock_that_is_wrong() {
    let library = std::fs::read_dir("/usr/lib").unwrap().filter_map(|entry| {
        let path = entry.unwrap().path().join("faketime/libfaketime.so.1");
        path.exists().then_some(path)
    });
    // Without the program that falsifies clocks, there is no wrong clock to test.
    let Some(library) = library.last() else { return };
    let backend = Backend::sqlite();
    Hub::start(backend.clone()).await.stop().await;
    let environment = [("LD_PRELOAD", library.to_str().unwrap()), ("FAKETIME", "@2020-01-01 00:00:00")];
    doctor_with(&backend, &[], &environment).await.only_fails("clock", "2020-01-01");
}

async fn a_folder_without_a_hub(backend: Backend) {
    std::fs::set_permissions(backend.data(), std::fs::Permissions::from_mode(0o700)).unwrap();
    let report = doctor(&backend, &[]).await;
    if backend.options().iter().any(|option| option == "--database") {
        assert_eq!(report.status, 0, "{:?}", report.checks);
        return;
    }
    report.expect("database", "FAILED", "no hub found in");
    assert_eq!(report.status, 1);
    assert!(std::fs::read_dir(backend.data()).unwrap().next().is_none(), "the doctor made something");
}

async fn the_database(backend: Backend) {
    let hub = Hub::start(backend.clone()).await;
    let db = &hub.app.db;
    db.write("INSERT INTO restores (backup_id, members) VALUES ('b', 3)").execute().await.unwrap();
    doctor(&backend, &[]).await.only_fails("restore", "partially restored");
    db.write("DELETE FROM restores").execute().await.unwrap();

    let owner = hub.network().await;
    let now = i64::try_from(std::time::UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap();
    for (minutes, is_recent) in [(30, false), (5, true)] {
        let at = now - minutes * 60_000;
        let opened = "INSERT INTO audit_log (network_id, id, at, actor_type, actor_id, actor_name, action, target)
                      VALUES ($1, $2, $3, 'SYSTEM', 'modules', 'modules', 'breaker.opened', 'flaky')";
        let id = format!("{:015x}abcdef", at * 1000);
        db.write(opened).bind(owner.network.unwrap()).bind(id).bind(at).execute().await.unwrap();
        let report = doctor(&backend, &[]).await;
        if is_recent {
            report.only_fails("breakers", "flaky of");
        } else {
            report.expect("breakers", "OK", "");
        }
    }
    db.write("DELETE FROM audit_log").execute().await.unwrap();

    let newest = "SELECT MAX(version) FROM _sqlx_migrations";
    let (version,): (i64,) = db.query(newest).one().await.unwrap();
    let set = "UPDATE _sqlx_migrations SET version = $2 WHERE version = $1";
    db.write(set).bind(version).bind(version + 1000).execute().await.unwrap();
    doctor(&backend, &[]).await.only_fails("migrations", "of a newer version");
    db.write(set).bind(version + 1000).bind(0_i64).execute().await.unwrap();
    doctor(&backend, &[]).await.only_fails("migrations", "of an older version");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_cannot_be_opened() {
    let backend = Backend::sqlite();
    Hub::start(backend.clone()).await.stop().await;
    let unreachable = ["--database", "postgres://nobody@127.0.0.1:1/nothing"];
    doctor(&backend, &unreachable).await.only_fails("database", "");
    std::fs::write(backend.data().join("hub.db"), "no database at all, but long enough to be read as one".repeat(100))
        .unwrap();
    doctor(&backend, &[]).await.only_fails("database", "");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster() {
    let backend = Backend::postgres().await;
    let hub = Hub::start(backend.clone()).await;
    let node = "INSERT INTO hub_nodes (node, url, seen_at, reaches_bus, is_clock_right, reached, options)
                VALUES ('a', 'http://10.0.0.7:8080', $1, TRUE, TRUE, '[]', '{}')";
    let sql = "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)";
    let (now,): (i64,) = hub.app.db.query(sql).one().await.unwrap();
    hub.app.db.write(node).bind(now - 120_000).execute().await.unwrap();
    doctor(&backend, &[]).await.only_fails("nodes", "http://10.0.0.7:8080 for 12");
    hub.app.db.write("UPDATE hub_nodes SET seen_at = $1").bind(now).execute().await.unwrap();
    doctor(&backend, &[]).await.expect("nodes", "OK", "1 nodes");

    // The database's clock is five seconds ahead.
    for statement in [
        "CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql
         AS 'SELECT pg_catalog.clock_timestamp() + interval ''5 s'''",
        "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = public, pg_catalog', current_database()); END $$",
    ] {
        hub.app.db.write(Sql { sqlite: "", postgres: statement }).execute().await.unwrap();
    }
    doctor(&backend, &[]).await.only_fails("database-clock", "differs from the database's by");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn external_services_are_checked() {
    let backend = Backend::sqlite();
    let hub = Hub::start(backend.clone()).await;
    let blobs = backend.data().join("blobs");
    let bus = ["--bus", "nats://127.0.0.1:1", "--node-url", "http://127.0.0.1:2", "--blobs", blobs.to_str().unwrap()];
    doctor(&backend, &bus).await.only_fails("bus", "");
    doctor(&backend, &["--smtp", "smtp://127.0.0.1:1"]).await.only_fails("mail", "");
    doctor(&backend, &["--public-url", "http://127.0.0.1:1"]).await.only_fails("public-url", "Connection refused");

    let (smtp, mail) = mail_server().await;
    let to = ["--smtp", smtp.as_str(), "--mail-to", "admin@example.org"];
    let report = doctor(&backend, &to).await;
    report.expect("mail", "OK", "admin@example.org");
    assert!(mail.await.unwrap().contains("RCPT TO:<admin@example.org>"));

    let folder = TempDir::new().unwrap();
    let (trusted, key) = certificate(folder.path());
    let url = proxy(&hub, &trusted, &key).await;
    let environment = [("SSL_CERT_FILE", trusted.as_str())];
    let report = doctor_with(&backend, &["--public-url", &url], &environment).await;
    report.only_fails("certificate", "the certificate expires in 1 days");
    let soon = ["--public-url", &url, "--min-certificate-days", "1"];
    doctor_with(&backend, &soon, &environment).await.expect("certificate", "OK", "expires in 1 days");
    doctor(&backend, &["--public-url", &url]).await.only_fails("public-url", "certificate");
    let (expired, key) = expired_certificate(folder.path());
    let url = proxy(&hub, &expired, &key).await;
    let environment = [("SSL_CERT_FILE", expired.as_str())];
    let report = doctor_with(&backend, &["--public-url", &url], &environment).await;
    report.only_fails("public-url", "certificate expired");
    assert!(report.checks["public-url"]["advice"].as_str().unwrap().contains("its certificate"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_bus_is_left_as_it_was() {
    let backend = Backend::postgres().await;
    Hub::start(backend.clone()).await.stop().await;
    let store = TempDir::new().unwrap();
    let port = free_port().to_string();
    let mut nats = Command::new("nats-server");
    nats.args(["--addr", "127.0.0.1", "--port", &port, "--jetstream", "--store_dir"]).arg(store.path());
    let mut nats = nats.stderr(Stdio::null()).spawn().expect("nats-server is installed (Debian's package nats-server)");
    let address = format!("127.0.0.1:{port}");
    Hub::eventually("NATS listens", async || tokio::net::TcpStream::connect(&address).await.is_ok()).await;
    let (bus, blobs) = (format!("nats://{address}"), backend.data().join("blobs"));
    let report = doctor(&backend, &["--bus", &bus, "--blobs", blobs.to_str().unwrap()]).await;
    report.expect("bus", "OK", "NATS with JetStream answers");
    let streams = store.path().join("jetstream/$G/streams");
    assert!(!streams.exists() || streams.read_dir().unwrap().next().is_none(), "the doctor made a stream");
    nats.kill().unwrap();
    nats.wait().unwrap();
}

/// The name leads to a server that is no hub, and the store of blobs is unreachable.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn foreign_and_unreachable_servers_are_reported() {
    let backend = Backend::sqlite();
    Hub::start(backend.clone()).await.stop().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, Router::new()).await });
    doctor(&backend, &["--public-url", &url]).await.only_fails("public-url", "/healthz answers 404");

    let s3 = S3::start().await;
    let blobs = ["--blobs", &s3.url()];
    doctor(&backend, &blobs).await.expect("blobs", "OK", "S3");
    let away = ["--blobs", "s3://AKID:secret@127.0.0.1:1/hub?region=eu-west-1&tls=off"];
    doctor(&backend, &away).await.only_fails("blobs", "");

    let nowhere = backend.data().join("nowhere");
    let report = doctor_in(&nowhere).await;
    report.expect("data-folder", "FAILED", "nowhere");
    report.expect("database", "FAILED", "no hub found in");
    assert!(!nowhere.exists(), "the doctor made something");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hub_that_is_not_ready() {
    let backend = Backend::sqlite();
    Hub::start(backend.clone()).await.stop().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let fault = r#"{"status": "UNAVAILABLE", "lacks": ["bus"], "faults": [{"name": "bus", "since": 1, "message": "The bus is unreachable."}]}"#;
    let router =
        Router::new().route("/readyz", get(async move || (axum::http::StatusCode::SERVICE_UNAVAILABLE, fault)));
    tokio::spawn(async move { axum::serve(listener, router).await });
    let lock = serving(&backend, address);
    doctor(&backend, &[]).await.only_fails("readiness", "The bus is unreachable.");
    drop(lock);
    let _lock = serving(&backend, ([127, 0, 0, 1], 1).into());
    doctor(&backend, &[]).await.only_fails("readiness", "the hub at 127.0.0.1:1 does not answer");
}

async fn another_hub_is_not_asked(backend: Backend) {
    let (other, own) = (Installation::new(Backend::sqlite()), Installation::new(backend));
    let other = other.serve();
    let elsewhere = other.url.strip_prefix("http://").unwrap().to_owned();
    let readiness = async |options: &[&str]| {
        let command = own.command(&[&["admin", "doctor", "--json"], options].concat());
        report(command, options).await.checks["readiness"].clone()
    };
    own.json(&["admin", "network", "create", "demo-net", "--json"]);
    let check = readiness(&["--listen", &elsewhere]).await;
    assert_eq!(check["outcome"], "SKIPPED", "{check}");
    assert!(check["message"].as_str().unwrap().starts_with("no hub is running in /"), "{check}");

    let mut hub = own.serve();
    for options in [&[][..], &["--listen", &elsewhere]] {
        let check = readiness(options).await;
        let expected = format!("the hub at {} is ready", hub.url.strip_prefix("http://").unwrap());
        assert_eq!((&check["outcome"], &check["message"]), (&json!("OK"), &json!(expected)));
    }
    hub.signal("-KILL");
    hub.child.wait().unwrap();
    assert_eq!(readiness(&[]).await["outcome"], "SKIPPED");
}

/// A certificate for `localhost` that was valid in 2020, and its key; returns their paths.
fn expired_certificate(folder: &Path) -> (String, String) {
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let config = format!(
        "[ca]\ndefault_ca = ca\nnew_certs_dir = {0}\ndatabase = {0}/index\nserial = {0}/serial\npolicy = policy\n\
         default_md = sha256\nx509_extensions = ext\n[policy]\ncommonName = supplied\n\
         [ext]\nsubjectAltName = DNS:localhost\nbasicConstraints = critical,CA:FALSE\n\
         [req]\ndistinguished_name = name\nprompt = no\n[name]\nCN = localhost\n",
        folder.to_str().unwrap()
    );
    for (name, text) in [("expired.config", config.as_str()), ("index", ""), ("serial", "01\n")] {
        std::fs::write(path(name), text).unwrap();
    }
    let (config, key) = (path("expired.config"), path("expired.key"));
    let (request, certificate) = (path("expired.request"), path("expired.pem"));
    for arguments in [
        ["req", "-new", "-newkey", "rsa:2048", "-nodes", "-config", &config, "-keyout", &key, "-out", &request]
            .to_vec(),
        [
            "ca",
            "-batch",
            "-selfsign",
            "-notext",
            "-config",
            &config,
            "-keyfile",
            &key,
            "-in",
            &request,
            "-out",
            &certificate,
            "-startdate",
            "20200101000000Z",
            "-enddate",
            "20201231000000Z",
        ]
        .to_vec(),
    ] {
        let output = Command::new("openssl").args(&arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    (certificate, key)
}

/// A mail server that accepts one mail; returns its URL, and the received commands.
async fn mail_server() -> (String, tokio::task::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("smtp://{}", listener.local_addr().unwrap());
    let serving = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let (read, mut write) = stream.into_split();
        let (mut lines, mut told, mut is_data) = (BufReader::new(read).lines(), String::new(), false);
        write.write_all(b"220 localhost ready\r\n").await.unwrap();
        while let Ok(Some(line)) = lines.next_line().await {
            told.push_str(&line);
            told.push('\n');
            let answer = match line.as_str() {
                "." => "250 taken\r\n",
                _ if is_data => continue,
                "DATA" => "354 go on\r\n",
                "QUIT" => "221 bye\r\n",
                _ => "250 fine\r\n",
            };
            is_data = line == "DATA";
            if write.write_all(answer.as_bytes()).await.is_err() || line == "QUIT" {
                break;
            }
        }
        told
    });
    (url, serving)
}

on_each! {
    a_hub_that_is_well
    another_hub_is_not_asked
    the_machine
    a_folder_without_a_hub
    the_database
}
