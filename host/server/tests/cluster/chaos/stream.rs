//! A client of the event stream that reconnects with the id of its last event.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt as _;
use reqwest::Method;
use serde_json::Value;
use sse_stream::SseByteStream;
use tokio::sync::broadcast;

use super::client::{At, Client};
use super::run::Stop;

/// A stream that is silent for longer is dead: a PING comes every 15 s.
const SILENCE: Duration = Duration::from_secs(35);
const RETRY: Duration = Duration::from_millis(500);

/// An event seen by a reader, in order.
#[derive(Clone, Debug)]
pub struct Seen {
    pub at: At,
    pub name: String,
    /// The event's id: its epoch and its place in the network's sequence.
    pub id: Option<(u64, u64)>,
    pub data: Value,
}

/// One reader of a network.
#[derive(Clone)]
pub struct Reader {
    pub name: &'static str,
    seen: Arc<Mutex<Vec<Seen>>>,
    live: broadcast::Sender<Seen>,
    has_opened: Arc<AtomicBool>,
}

impl Reader {
    /// Reads as a server until it is stopped. With `reconnect`, it leaves its streams after this long; otherwise only when
    /// they end or are silent.
    pub fn start(name: &'static str, client: Client, server: String, reconnect: Option<Duration>, stop: Stop) -> Self {
        let live = broadcast::channel(1000).0;
        let reader = Self { name, seen: Arc::default(), live, has_opened: Arc::default() };
        tokio::spawn(reader.clone().read(client, server, reconnect, stop));
        reader
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// Waits until it reads for the first time: earlier events are not delivered to it.
    pub async fn opened(&self) {
        while !self.has_opened.load(Ordering::Relaxed) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// All later events.
    pub fn listen(&self) -> broadcast::Receiver<Seen> {
        self.live.subscribe()
    }

    /// True if it has seen an event that holds, or a RESYNC, since a time.
    pub fn has_seen(&self, since: At, holds: impl Fn(&Seen) -> bool) -> bool {
        let seen = self.seen.lock().unwrap();
        seen.iter().rev().take_while(|seen| seen.at >= since).any(|seen| seen.name == "RESYNC" || holds(seen))
    }

    async fn read(self, client: Client, server: String, reconnect: Option<Duration>, stop: Stop) {
        let mut last = None::<String>;
        while !stop.is_set() {
            let (node, url) = client.next_node();
            let mut request = client.request(&url, Method::GET, &format!("/api/plugin/events?serverId={server}"));
            if let Some(last) = &last {
                request = request.header("Last-Event-ID", last);
            }
            let response = match tokio::time::timeout(Duration::from_secs(10), request.send()).await {
                Ok(Ok(response)) if response.status() == 200 => response,
                failed => {
                    let what = failed.map(|sent| sent.map(|response| response.status().as_u16()));
                    client.note(format!("{} does not open at node {node}: {what:?}", self.name));
                    tokio::time::sleep(RETRY).await;
                    continue;
                }
            };
            self.has_opened.store(true, Ordering::Relaxed);
            client.note(format!("{} opened at node {node} after {last:?}", self.name));
            let mut frames = SseByteStream::new(response.bytes_stream());
            let leave_at = reconnect.map(|after| client.recorder.now() + after);
            let why = loop {
                let now = client.recorder.now();
                let left = leave_at.map_or(SILENCE, |at| at.saturating_sub(now));
                match tokio::time::timeout(left.min(SILENCE), frames.next()).await {
                    Ok(Some(Ok(frame))) => {
                        last = frame.id.or(last);
                        let Some(name) = frame.event else { continue };
                        let data = frame.data.and_then(|data| serde_json::from_str(&data).ok()).unwrap_or_default();
                        let id = last.as_deref().and_then(read_id);
                        self.push(&client, Seen { at: client.recorder.now(), name, id, data });
                    }
                    Ok(None) => break "ended",
                    Ok(Some(Err(_))) => break "broke",
                    Err(_) if leave_at.is_some() => break "is left",
                    Err(_) => break "is silent",
                }
            };
            client.note(format!("{} {why} at node {node}", self.name));
            tokio::time::sleep(RETRY).await;
        }
    }

    fn push(&self, client: &Client, seen: Seen) {
        if seen.name == "PING" {
            return;
        }
        client.note(format!("{} got {} {:?} {}", self.name, seen.name, seen.id, seen.data));
        self.seen.lock().unwrap().push(seen.clone());
        // There may be no listeners.
        let _ = self.live.send(seen);
    }
}

fn read_id(id: &str) -> Option<(u64, u64)> {
    let (epoch, sequence) = id.split_once('.')?;
    Some((epoch.parse().ok()?, sequence.parse().ok()?))
}
