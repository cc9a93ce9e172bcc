//! Load balancers that send all requests of a network to one node, with the configurations of `deploy/`: the network's
//! owner moves to the node at which its requests arrive.

use std::collections::HashMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use hub::http_client;
use hub_testing::ports::free_port;
use serde_json::json;
use tempfile::TempDir;

use crate::client::Client;
use crate::fleet::{Daemon, Fleet, shard_of, wait_for, wait_until};

/// More than a window in which a shard's requests are counted, and the next one.
const SETTLED_WITHIN: Duration = Duration::from_secs(240);
/// So many that some move to a node that gives others away.
const NETWORKS: usize = 24;
/// Header added by the test configurations with the node that answered.
const NODE_HEADER: &str = "x-node";

/// A load balancer in front of a fleet.
struct Balancer {
    url: String,
    http: reqwest::Client,
    _process: Daemon,
    _folder: TempDir,
}

impl Balancer {
    /// Starts it with the `configuration` for this port.
    async fn start(program: &str, arguments: &[&str], configuration: impl FnOnce(u16, &Path) -> String) -> Self {
        let (folder, port) = (TempDir::new().unwrap(), free_port());
        let file = folder.path().join("configuration");
        std::fs::write(&file, configuration(port, folder.path())).unwrap();
        let path = format!("/usr/sbin:{}", std::env::var("PATH").unwrap_or_default());
        let child = Command::new(program)
            .env("PATH", path)
            .args(arguments)
            .arg(&file)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("{program} is installed (Debian's package): {error}"));
        wait_for(&format!("127.0.0.1:{port}")).await;
        let http = http_client::client().unwrap();
        Self { url: format!("http://127.0.0.1:{port}"), http, _process: Daemon(child), _folder: folder }
    }

    async fn send(&self, key: &str) -> reqwest::Result<reqwest::Response> {
        let url = format!("{}/api/plugin/servers", self.url);
        self.http.get(url).header("X-Service-Api-Key", key).send().await
    }

    /// Sends a request with a key; returns the URL of the node that answered.
    async fn request(&self, key: &str) -> String {
        let response = self.send(key).await.unwrap();
        let (status, node) = (response.status(), response.headers().get(NODE_HEADER).cloned());
        assert_eq!(status, 200, "{node:?}: {:?}", response.text().await);
        format!("http://{}", node.unwrap().to_str().unwrap())
    }
}

fn deployed(file: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy").join(file)).unwrap()
}

/// The lines of a configuration, with its nodes replaced by `nodes`, and other lines by `replace`.
fn with_nodes(lines: &str, nodes: &str, replace: impl Fn(&str) -> Option<String>) -> String {
    let (mut text, mut nodes) = (String::new(), Some(nodes));
    for line in lines.lines() {
        let line = if line.trim_start().starts_with("server ") {
            nodes.take().unwrap_or_default().to_owned()
        } else {
            replace(line).unwrap_or_else(|| line.to_owned())
        };
        text += &line;
        text.push('\n');
    }
    assert!(nodes.is_none(), "it names nodes");
    text
}

async fn nginx(fleet: &Fleet) -> Balancer {
    let configuration = |port, folder: &Path| {
        let deployed = deployed("nginx.conf");
        let (upstream, _) = deployed.split_once("\nserver {").expect("a server block after the upstream");
        let nodes = [0, 1, 2].map(|node| format!("server {} max_fails=1 fail_timeout=2s;\n", fleet.address(node)));
        let upstream = with_nodes(upstream, &nodes.concat(), |_| None);
        let folder = folder.display();
        format!(
            "daemon off; pid {folder}/pid; error_log stderr; events {{}}\n\
             http {{ access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;\n\
             fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;\n\
             {upstream}\nserver {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://hub;\n\
             add_header {NODE_HEADER} $upstream_addr always; }} }} }}"
        )
    };
    Balancer::start("nginx", &["-e", "stderr", "-c"], configuration).await
}

async fn haproxy(fleet: &Fleet) -> Balancer {
    let configuration = |port, _: &Path| {
        let server = |node| format!("    server {0} {0} check\n", fleet.address(node));
        let nodes: String = (0..3).map(server).collect();
        let nodes = format!("    http-response set-header {NODE_HEADER} %s\n{nodes}");
        with_nodes(&deployed("haproxy.cfg"), &nodes, |line| {
            line.trim_start().starts_with("bind ").then(|| format!("    bind 127.0.0.1:{port}"))
        })
    };
    Balancer::start("haproxy", &["-db", "-f"], configuration).await
}

async fn networks_are_owned_where_their_requests_arrive(mut fleet: Fleet, balancer: Balancer) {
    let networks: Vec<Client> = (0..NETWORKS).map(|number| fleet.network(&format!("routed-{number}"))).collect();
    let mut keys = vec![];
    for network in &networks {
        let second = network.post("/api/manage/keys", json!({"name": "second", "scopes": ["plugin"]})).await;
        keys.extend([network.key.clone(), second.expect(201)["apiKey"].as_str().unwrap().to_owned()]);
    }
    let began = Instant::now();
    let node_of = loop {
        let answered = join_all(keys.iter().map(async |key| (shard_of(key), balancer.request(key).await))).await;
        let node_of: HashMap<i32, String> = answered.iter().cloned().collect();
        // A balancer whose check of a node came late on a busy machine sends its requests elsewhere for a moment.
        let is_one_node = answered.iter().all(|(shard, node)| node_of[shard] == *node);
        let leases = fleet.leases().await;
        let is_owner = |(shard, node): (&i32, &String)| leases.get(shard).is_some_and(|lease| lease.url == *node);
        if is_one_node && node_of.iter().all(is_owner) {
            break node_of;
        }
        assert!(began.elapsed() < SETTLED_WITHIN, "requests arrive at {answered:?}, owners are {leases:?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    let node = (0..3).find(|node| fleet.url(*node) == node_of[&shard_of(&keys[0])]).unwrap();
    fleet.kill(node);
    wait_until(async || balancer.send(&keys[0]).await.is_ok_and(|response| response.status() == 200)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn behind_nginx_networks_are_owned_where_their_requests_arrive() {
    let fleet = Fleet::start().await;
    let balancer = nginx(&fleet).await;
    networks_are_owned_where_their_requests_arrive(fleet, balancer).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn behind_haproxy_networks_are_owned_where_their_requests_arrive() {
    let fleet = Fleet::start().await;
    let balancer = haproxy(&fleet).await;
    networks_are_owned_where_their_requests_arrive(fleet, balancer).await;
}
