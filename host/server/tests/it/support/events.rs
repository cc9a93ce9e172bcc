//! A reader of the event stream.

use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use reqwest::{RequestBuilder, Response};
use serde_json::Value;

/// How long a test waits for an event before it fails. Real time: nothing waits this long when all is well.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub id: Option<String>,
    pub name: String,
    pub data: Value,
}

pub struct Events {
    bytes: BoxStream<'static, reqwest::Result<bytes::Bytes>>,
    text: String,
}

#[allow(dead_code)]
impl Events {
    pub async fn open(request: RequestBuilder) -> Self {
        Self::of(request.send().await.unwrap())
    }

    pub fn of(response: Response) -> Self {
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { bytes: response.bytes_stream().boxed(), text: String::new() }
    }

    /// The next event; None when the stream has ended.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(end) = self.text.find("\n\n") {
                let block: String = self.text.drain(..end + 2).collect();
                if let Some(event) = parse(&block) {
                    return Some(event);
                }
                continue;
            }
            let chunk = tokio::time::timeout(PATIENCE, self.bytes.next()).await.expect("an event in time");
            match chunk {
                Some(Ok(chunk)) => self.text.push_str(std::str::from_utf8(&chunk).unwrap()),
                _ => return None,
            }
        }
    }

    /// The next event of this name, whatever comes before it.
    pub async fn next_named(&mut self, name: &str) -> Event {
        loop {
            let event = self.next().await.expect("the stream goes on");
            if event.name == name {
                return event;
            }
        }
    }
}

fn parse(block: &str) -> Option<Event> {
    let mut event = Event { id: None, name: String::new(), data: Value::Null };
    for line in block.lines() {
        match line.split_once(": ") {
            Some(("id", id)) => event.id = Some(id.to_owned()),
            Some(("event", name)) => name.clone_into(&mut event.name),
            Some(("data", data)) => event.data = serde_json::from_str(data).unwrap(),
            _ => {}
        }
    }
    (!event.name.is_empty()).then_some(event)
}
