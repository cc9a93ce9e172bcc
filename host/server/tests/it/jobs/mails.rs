//! Jobs as the operator meets them: mails of a hub that is killed, and of one whose mail server refuses them.

use std::net::TcpListener;

use serde_json::{Value, json};

use crate::cli::Installation;
use crate::support::{Backend, Hub, on_each};
use crate::waitlist::smtp::MailServer;

fn options(port: u16) -> [String; 2] {
    ["--smtp".to_owned(), format!("smtp://127.0.0.1:{port}")]
}

fn invite() -> Value {
    json!({"email": "alex@example.org", "role": "VIEWER"})
}

fn mails(installation: &Installation) -> Value {
    let shown = installation.json(&["admin", "jobs", "--json"]);
    shown.as_array().unwrap().iter().find(|row| row["kind"] == "person-mail").cloned().unwrap_or_default()
}

async fn a_job_of_a_killed_hub_runs_once_more(backend: Backend) {
    let installation = Installation::new(backend);
    let key =
        installation.json(&["admin", "network", "create", "mine", "--json"])["apiKey"].as_str().unwrap().to_owned();
    // Accepts connections, and says nothing.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let [option, url] = options(silent.local_addr().unwrap().port());
    let mut hub = installation.serve_with_options(&[&option, &url]);
    hub.client(&key).post("/api/manage/people", invite()).await.expect(201);
    Hub::eventually("the mail is under way", async || mails(&installation)["running"] == 1).await;
    hub.signal("-KILL");
    hub.child.wait().unwrap();
    assert_eq!(mails(&installation)["running"], 1);

    let server = MailServer::start(&[]);
    let [option, url] = options(server.port);
    let _hub = installation.serve_with_options(&[&option, &url]);
    let (_server, mail) = server.next().await;
    assert_eq!(mail["to"], json!(["alex@example.org"]));
    Hub::eventually("the job is done", async || mails(&installation) == Value::Null).await;
}

async fn a_dead_job_is_shown_and_tried_again(backend: Backend) {
    let installation = Installation::new(backend);
    let key =
        installation.json(&["admin", "network", "create", "mine", "--json"])["apiKey"].as_str().unwrap().to_owned();
    let port = {
        let rejecting = MailServer::start(&["--reject"]);
        let [option, url] = options(rejecting.port);
        let hub = installation.serve_with_options(&[&option, &url]);
        hub.client(&key).post("/api/manage/people", invite()).await.expect(201);
        Hub::eventually("it is given up", async || mails(&installation)["dead"] == 1).await;
        rejecting.port
    };
    let text = |arguments: &[&str]| String::from_utf8(installation.run(arguments).stdout).unwrap();
    let shown = text(&["admin", "jobs"]);
    assert!(shown.contains("person-mail  0        0        0        1") && shown.contains("550"), "{shown}");
    let listed = installation.json(&["admin", "jobs", "list", "--kind", "person-mail", "--json"]);
    assert_eq!((&listed[0]["state"], &listed[0]["nextAttemptAt"]), (&json!("DEAD"), &Value::Null), "{listed}");
    assert!(listed[0]["lastError"].as_str().unwrap().contains("no such mailbox"), "{listed}");

    let server = MailServer::start(&["--port", &port.to_string()]);
    let [option, url] = options(port);
    let _hub = installation.serve_with_options(&[&option, &url]);
    let id = listed[0]["id"].as_str().unwrap();
    assert_eq!(text(&["admin", "jobs", "retry", id]), format!("{id} will be tried now\n"));
    let (_server, mail) = server.next().await;
    assert_eq!(mail["to"], json!(["alex@example.org"]));
    Hub::eventually("the job is done", async || mails(&installation) == Value::Null).await;
}

on_each! {
    a_job_of_a_killed_hub_runs_once_more a_dead_job_is_shown_and_tried_again
}
