//! Streams of one server that are opened at several nodes at the same moment: one stays, and commands reach it alone.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::StreamExt as _;
use reqwest::Method;
use serde_json::json;
use sse_stream::SseByteStream;
use tokio::task::JoinSet;

use super::client::Client;
use super::report::{Checked, Violation, secs};
use super::site::Site;

pub const HISTORY: &str = "doubles";
const SERVER: &str = "twin";
/// Time in which all but one end, where nothing else fails.
const SOON: Duration = Duration::from_secs(5);
/// The same beside other faults, which last for up to 30 s.
const AT_LAST: Duration = Duration::from_secs(45);

/// One of the streams.
#[derive(Clone, Default)]
struct Twin {
    is_open: Arc<AtomicBool>,
    commands: Arc<AtomicUsize>,
}

impl Twin {
    async fn read(self, client: Client, url: String) {
        let path = format!("/api/plugin/events?serverId={SERVER}");
        let opening = client.request(&url, Method::GET, &path).send();
        let Ok(Ok(response)) = tokio::time::timeout(AT_LAST, opening).await else { return };
        if response.status() != 200 {
            return;
        }
        self.is_open.store(true, Ordering::Relaxed);
        let mut frames = SseByteStream::new(response.bytes_stream());
        while let Some(Ok(frame)) = frames.next().await {
            if frame.event.as_deref() == Some("EXECUTE_COMMAND") {
                self.commands.fetch_add(1, Ordering::Relaxed);
            }
        }
        self.is_open.store(false, Ordering::Relaxed);
    }
}

/// Opens a stream of one server at each node, and looks which stay.
pub async fn open(site: &Site, client: &Client, is_alone: bool) {
    let recorder = &site.recorder;
    let client = client.for_load(HISTORY);
    let body = json!({"serverId": SERVER, "serverType": "twin", "gameType": "MINECRAFT", "role": "GAME",
        "maxPlayers": 1, "host": "10.0.0.1", "port": 25565});
    client.post("/api/plugin/servers/register", &body).await;
    let urls: Vec<_> = client.urls.lock().unwrap().iter().flatten().cloned().collect();
    let (mut reading, mut twins) = (JoinSet::new(), vec![]);
    for url in urls {
        let twin = Twin::default();
        reading.spawn(twin.clone().read(client.clone(), url));
        twins.push(twin);
    }
    let began = recorder.now();
    // Those that are still opened count from then on.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let open = || twins.iter().filter(|twin| twin.is_open.load(Ordering::Relaxed)).count();
    let limit = if is_alone { SOON } else { AT_LAST };
    let mut violations = vec![];
    let mut violate = |what: String| {
        violations.push(Violation { network: client.network, load: HISTORY, at: recorder.now(), what });
    };
    while open() > 1 {
        let now = recorder.now();
        if now - began > limit + site.stalls.between(began, now) {
            violate(format!("More than one stream of a server stays: {} after {:.1} s", open(), secs(now - began)));
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let got = || twins.iter().map(|twin| twin.commands.load(Ordering::Relaxed)).sum::<usize>();
    let before = got();
    let command = json!({"command": "say twin", "timeoutMs": 1_000});
    client.post(&format!("/api/manage/servers/{SERVER}/command"), &command).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    if got() > before + 1 {
        violate(format!("A command reached more than one stream: {}", got() - before));
    }
    let done = vec![began];
    site.note_found(HISTORY, Checked { size: twins.len(), done, violations, ..Checked::default() });
}
