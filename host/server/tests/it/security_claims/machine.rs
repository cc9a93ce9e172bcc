//! Secrets on the hub's machine: what its other users, its log and its messages show.

use std::fs::File;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use reqwest::Method;
use serde_json::{Value, json};

use crate::cli::Installation;
use crate::people::{PASSWORD, code, member, send, sessions::shown};
use crate::support::{Backend, Hub, NOW};

const SECRET: &str = "s3cretpassword";
const NOBODY: u32 = 65534;

/// True if the user `nobody` reads something there.
fn is_open(path: &Path) -> bool {
    let output = Command::new("cat").arg(path).uid(NOBODY).gid(NOBODY).output().unwrap();
    output.status.success() && !output.stdout.is_empty()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_users_read_neither_the_data_nor_the_environment() {
    if std::fs::metadata("/proc/self").unwrap().uid() != 0 {
        return;
    }
    let installation = Installation::new(Backend::sqlite());
    let hub = installation.serve_logged(&[], &[("HUB_SMTP", &format!("smtp://hub:{SECRET}@127.0.0.1:1"))]);
    let process = format!("/proc/{}", hub.child.id());
    assert!(is_open(Path::new(&process).join("cmdline").as_path()), "the probe reads nothing");
    assert!(!is_open(Path::new(&process).join("environ").as_path()));
    for file in ["hub.db", "secrets.key", "log"] {
        let path = installation.settings.data.join(file);
        assert!(path.exists() && !is_open(&path), "{file}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_password_is_in_messages_and_logs() {
    let with = |variable: &str, value: &str| [(variable.to_owned(), value.to_owned())].to_vec();
    let mail = |value: &str| with("HUB_SMTP", value);
    for environment in [
        with("HUB_DATABASE", &format!("postgres://hub:{SECRET}@127.0.0.1:1/hub")),
        with("HUB_DATABASE", &format!("mysql://hub:{SECRET}@127.0.0.1:1/hub")),
        with("HUB_BLOBS", &format!("s3://KEY:{SECRET}@127.0.0.1:1/bucket")),
        with("HUB_BLOBS", &format!("s3://KEY:{SECRET}@")),
        mail(&format!("smtps:/hub:{SECRET}@127.0.0.1:1")),
        mail(&format!("smtp://hub:{SECRET}@127.0.0.1:1")),
    ] {
        let installation = Installation::new(Backend::sqlite());
        let command = |arguments: &[&str]| {
            let mut command = installation.command(arguments);
            command.envs(environment.iter().cloned()).env("HUB_LOG", "debug");
            command
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("messages");
        let messages = || std::fs::read_to_string(&path).unwrap_or_default();
        let appended = || File::options().append(true).create(true).open(&path).unwrap();
        let mut hub =
            command(&["serve", "--listen", "127.0.0.1:0"]).stdout(appended()).stderr(appended()).spawn().unwrap();
        // It says that it waits for something, refuses to start, or serves.
        Hub::eventually("it says something about it", async || {
            let text = messages();
            hub.try_wait().unwrap().is_some() || text.contains("waiting:") || text.contains("listening on")
        })
        .await;
        let url = messages().lines().find_map(|line| line.strip_prefix("listening on ").map(str::to_owned));
        if let Some(url) = url {
            let client = crate::support::Client::new(hub::http_client::client().unwrap(), url, None);
            client.post("/api/public/waitlist", json!({"email": "alex@example.org"})).await.expect(200);
            Hub::eventually("it says what is not there", async || {
                let text = messages();
                text.contains("refused") || text.contains("transport error")
            })
            .await;
        }
        let _ = hub.kill();
        hub.wait().unwrap();
        let doctor = command(&["admin", "doctor"]).stdin(Stdio::null()).output().unwrap();
        let all = [messages(), String::from_utf8(doctor.stdout).unwrap(), String::from_utf8(doctor.stderr).unwrap()];
        for text in all {
            assert!(!text.contains(SECRET), "{environment:?}: {text}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_secret_in_use_is_in_the_log() {
    let installation = Installation::new(Backend::sqlite());
    let created = installation.json(&["admin", "network", "create", "demo-net", "--json"]);
    let key = created["apiKey"].as_str().unwrap().to_owned();
    let mut hub = installation.serve_logged(&[], &[("HUB_LOG", "debug")]);
    let owner = hub.client(&key);
    let server = json!({"serverId": "lobby-1", "serverType": "lobby", "host": "10.0.0.7", "port": 25565});
    let registered = owner.post("/api/plugin/servers/register", server).await.expect(201).clone();
    let rotated = owner.post("/api/manage/signing-secret/rotate", json!({})).await.expect(201).clone();
    let webhook = json!({"url": "https://hook.invalid/x", "events": ["CHAT", "CONFIG_UPDATED"]});
    let webhook = owner.post("/api/manage/webhooks", webhook).await.expect(201).clone();
    let doc = json!({"group": "g", "namespace": "n", "doc": 1});
    owner.post("/api/plugin/config/publish", doc).await.expect(200);
    let made = owner.post("/api/manage/keys", json!({"name": "k", "scopes": ["plugin"]})).await.expect(201).clone();
    let upload = owner.request(Method::POST, "/api/manage/artifacts?name=a&version=1").body("bytes");
    let artifact = owner.send(upload).await.expect(201)["artifactId"].as_str().unwrap().to_owned();
    let install = format!("/api/manage/artifacts/{artifact}/install");
    let link = owner.post(&install, json!({"serverId": "lobby-1"})).await.expect(201)["url"].clone();
    let link = link.as_str().unwrap().rsplit_once('/').unwrap().1;
    owner.get(&format!("/api/artifacts/{link}")).await.expect(200);
    owner.with_key(&format!("{key}x")).get("/api/manage/keys").await.expect(401);
    hub.signal("-TERM");
    assert!(hub.child.wait().unwrap().success());
    let log = installation.log();
    assert!(log.contains("/api/manage/signing-secret/rotate"), "the log has no requests: {log}");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let secrets = [
        key[17..].to_owned(),
        text(&made["apiKey"])[17..].to_owned(),
        text(&registered["signingSecret"]),
        text(&rotated["signingSecret"]),
        text(&webhook["secret"]),
        link.to_owned(),
    ];
    for secret in secrets {
        assert!(!log.contains(&secret), "{secret} is in the log");
    }
}

/// The files themselves, with rows that were deleted and tables that no backup contains.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_credential_is_in_the_files_of_the_database() {
    let hub = Hub::start(Backend::sqlite()).await;
    let owner = hub.network().await;
    let alex = member(&hub, &owner, "alex@example.org", "OWNER").await;
    let post = async |path: &str, body: Value| send(&hub, &alex.token, Method::POST, path, body).await;
    let factor = post("/api/people/second-factor", json!({"password": PASSWORD})).await.expect(201)["secret"].clone();
    let code_of_factor = shown(factor.as_str().unwrap(), NOW);
    let codes = post("/api/people/second-factor/confirm", json!({"code": code_of_factor})).await.expect(200).clone();
    hub.anonymous().post("/api/people/password/lost", json!({"email": "alex@example.org"})).await.expect(204);
    owner.post("/api/manage/people", json!({"email": "kim@example.org", "role": "ADMIN"})).await.expect(201);
    let mut credentials = vec![
        alex.token.rsplit_once('_').unwrap().1.to_owned(),
        owner.key.as_ref().unwrap()[17..].to_owned(),
        factor.as_str().unwrap().to_owned(),
        PASSWORD.to_owned(),
        code(&hub, "alex@example.org", 2).await,
        code(&hub, "kim@example.org", 1).await,
    ];
    credentials.extend(codes["recoveryCodes"].as_array().unwrap().iter().map(|code| code.as_str().unwrap().to_owned()));
    let server = json!({"serverId": "lobby-1", "serverType": "lobby", "host": "10.0.0.7", "port": 25565});
    let server = owner.post("/api/plugin/servers/register", server).await.expect(201).clone();
    let rotated =
        owner.post("/api/manage/signing-secret/rotate", json!({"overlapMs": 60_000})).await.expect(201).clone();
    let webhook = json!({"url": "https://hook.invalid/b25seSB0aGUgb3duZXI", "events": ["PUNISHMENT"]});
    let webhook = owner.post("/api/manage/webhooks", webhook).await.expect(201).clone();
    let ban = json!({"playerUuid": "069a79f4-44e9-4726-a5be-fca90e38aaf5", "playerName": "Notch", "type": "BAN"});
    let ban = owner.request(Method::POST, "/api/plugin/punishments/create").header("Idempotency-Key", "b").json(&ban);
    let ban = owner.send(ban).await.expect(200).clone();
    for secret in [&server["signingSecret"], &rotated["signingSecret"], &webhook["secret"], &ban["appealCode"]] {
        credentials.push(secret.as_str().unwrap().to_owned());
    }
    credentials.push("b25seSB0aGUgb3duZXI".to_owned());
    let sent = "SELECT COUNT(*) FROM webhook_deliveries WHERE network_id = $1";
    Hub::eventually("the webhook has its delivery", async || {
        hub.app.db.query(sent).bind(owner.network.unwrap()).one::<(i64,)>().await.unwrap().0 == 1
    })
    .await;
    let mut bytes = vec![];
    for file in ["hub.db", "hub.db-wal"] {
        bytes.extend(std::fs::read(hub.data().join(file)).unwrap());
    }
    let contains = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(contains("kim@example.org"), "the test reads nothing");
    for credential in credentials {
        assert!(!contains(&credential), "{credential} is in the database");
    }
}
