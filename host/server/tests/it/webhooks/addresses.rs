//! No request goes to an address that is not public, regardless of a name's look-up.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use futures_util::FutureExt as _;
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::receiver::{Receiver, Reply};
use super::{WEBHOOKS, add, deliveries, expect_idle, expect_requests, get, publish, start};
use crate::cli::Installation;
use crate::support::{Backend, Hub, on_each};

const ALLOWED: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));
const VICTIM: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

on_each! {
    a_name_that_changes_its_address_leads_nowhere
    urls_that_lead_inside_are_refused
    silent_name_servers_delay_no_other_network
}

/// Answers of a name server, and the number of its queries.
#[derive(Clone, Default)]
struct Names(Arc<Mutex<(Vec<IpAddr>, usize)>>);

impl Names {
    fn answer(&self, addresses: &[IpAddr]) {
        self.0.lock().0 = addresses.to_vec();
    }

    fn asked(&self) -> usize {
        self.0.lock().1
    }
}

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

async fn a_name_that_changes_its_address_leads_nowhere(backend: Backend) {
    let names = Names::default();
    let resolver = names.clone();
    let hub = Hub::start_with(backend, |settings| {
        settings.webhook_networks = vec!["127.0.0.2/32".parse().unwrap()];
        settings.webhooks.resolver = Some(Arc::new(move |_: String| {
            let mut names = resolver.0.lock();
            names.1 += 1;
            let addresses = names.0.clone();
            async move { Ok::<_, std::io::Error>(addresses) }.boxed()
        }));
    })
    .await;
    let owner = hub.network().await;
    // The same port of both addresses, so that only the address decides.
    let receiver = Receiver::start("127.0.0.2:0").await;
    let victim = Receiver::start(&format!("127.0.0.1:{}", receiver.address().port())).await;
    // Each request uses its own connection, so that each is looked up.
    let closing = |status: u16| Reply::With(status, "connection", "close".to_owned());
    receiver.always(closing(200));
    names.answer(&[ALLOWED]);
    let url = format!("http://rebind.test:{}/hook", receiver.address().port());
    let (id, _) = add(&owner, &url, &["CONFIG_UPDATED"]).await;
    publish(&owner, "a").await;
    expect_requests(&receiver, 1).await;
    expect_idle(&owner, &id).await;
    assert_eq!(names.asked(), 1, "it connects to the looked-up address, after one look-up");
    let inside = [
        vec![VICTIM],
        vec![ip("::1"), ip("::ffff:127.0.0.1")],
        vec![ip("169.254.169.254"), ip("10.0.0.1")],
        vec![ip("1.1.1.1")],
        vec![],
    ];
    for addresses in &inside {
        names.answer(addresses);
        let failures = get(&owner, &id).await["failures"].as_i64().unwrap();
        owner.post(&format!("{WEBHOOKS}/{id}/test"), json!({})).await.expect(201);
        Hub::eventually("it fails", async || get(&owner, &id).await["failures"].as_i64().unwrap() > failures).await;
        let log = deliveries(&owner, &id).await;
        let waiting = log.iter().rfind(|it| it["state"] == "WAITING").unwrap();
        assert!(waiting["error"].as_str().unwrap().contains("no public address"), "{addresses:?}: {waiting}");
        assert_eq!(waiting["status"], Value::Null);
    }
    assert_eq!((receiver.count(), victim.count()), (1, 0));
    // Of several addresses, only allowed ones are tried.
    names.answer(&[VICTIM, ALLOWED]);
    owner.patch(&format!("{WEBHOOKS}/{id}"), json!({"enabled": true})).await.expect(200);
    expect_idle(&owner, &id).await;
    expect_requests(&receiver, 6).await;
    assert_eq!(victim.count(), 0);
    // A redirect is an answer, and not followed.
    receiver.will([Reply::With(307, "location", victim.url()), Reply::With(302, "location", victim.url())]);
    publish(&owner, "redirected").await;
    Hub::eventually("it fails", async || get(&owner, &id).await["failures"] == 1).await;
    let error = deliveries(&owner, &id).await[0]["error"].as_str().unwrap().to_owned();
    assert!(error.contains("redirects are not followed"), "{error}");
    assert_eq!(victim.count(), 0);
}

async fn urls_that_lead_inside_are_refused(backend: Backend) {
    let hub = start(backend).await;
    let owner = hub.network().await;
    for url in [
        "https://127.0.0.1/",
        "https://[::1]/",
        "https://2130706433/",
        "https://0x7f000001/",
        "https://[::ffff:127.0.0.1]/",
        "https://169.254.169.254/latest",
        "http://127.0.0.1:8080/",
        "https://10.0.0.1/",
        "https://100.64.0.1/",
        "https://[fd00::1]/",
        "https://[64:ff9b::7f00:1]/",
        "https://user:pass@example.org/",
        "https://example.org:22/",
        "ftp://example.org/",
        "gopher://example.org",
        "example.org",
        "",
    ] {
        let refused = owner.post(WEBHOOKS, json!({"url": url, "events": ["CHAT"]})).await;
        refused.expect_error(400, "invalid_request");
        assert!(refused.body["error"].as_str().unwrap().contains("`url`"), "{url}: {}", refused.body);
    }
    // Without a network of the operator's there is no plain HTTP at all.
    let strict = Hub::start(Backend::sqlite()).await;
    let owner = strict.network().await;
    for url in ["http://example.org/", "http://127.0.0.2/", "https://127.0.0.2/"] {
        owner.post(WEBHOOKS, json!({"url": url, "events": ["CHAT"]})).await.expect_error(400, "invalid_request");
    }
    owner.post(WEBHOOKS, json!({"url": "https://example.org/", "events": ["CHAT"]})).await.expect(201);
}

/// More look-ups without an answer than there are permits for requests.
async fn silent_name_servers_delay_no_other_network(backend: Backend) {
    let asked = Arc::new(Mutex::new(0));
    let count = Arc::clone(&asked);
    let hub = Hub::start_with(backend, |settings| {
        settings.webhook_networks = vec!["127.0.0.2/32".parse().unwrap()];
        settings.webhooks.timeout = std::time::Duration::from_secs(300);
        settings.webhooks.resolver = Some(Arc::new(move |host: String| {
            let is_silent = host == "silent.test";
            *count.lock() += usize::from(is_silent);
            async move {
                if is_silent {
                    std::future::pending::<()>().await;
                }
                Ok::<_, std::io::Error>(vec![ALLOWED])
            }
            .boxed()
        }));
    })
    .await;
    let receiver = Receiver::start("127.0.0.2:0").await;
    let port = receiver.address().port();
    for _ in 0..8 {
        let owner = hub.network().await;
        for _ in 0..20 {
            add(&owner, &format!("http://silent.test:{port}/"), &["CONFIG_UPDATED"]).await;
        }
        publish(&owner, "a").await;
    }
    Hub::eventually("the name servers are asked", async || *asked.lock() >= 64).await;
    let other = hub.network().await;
    add(&other, &format!("http://good.test:{port}/"), &["CONFIG_UPDATED"]).await;
    publish(&other, "b").await;
    expect_requests(&receiver, 1).await;
    assert_eq!(receiver.fields("namespace"), ["b"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn proxies_of_the_environment_are_not_used() {
    let installation = Installation::new(Backend::sqlite());
    let created = installation.json(&["admin", "network", "create", "hooked", "--json"]);
    let proxy = Receiver::start("127.0.0.1:0").await;
    let url = format!("http://{}", proxy.address());
    let variables = ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"];
    let environment = variables.map(|name| (name, url.as_str()));
    let hub = installation.serve_logged(&["--webhook-networks", "127.0.0.2/32"], &environment);
    let (owner, receiver) = (hub.client(created["apiKey"].as_str().unwrap()), Receiver::start("127.0.0.2:0").await);
    add(&owner, &receiver.url(), &["CONFIG_UPDATED"]).await;
    publish(&owner, "a").await;
    Hub::eventually("it arrives", async || receiver.count() + proxy.count() > 0).await;
    assert_eq!((receiver.count(), proxy.count()), (1, 0));
}
