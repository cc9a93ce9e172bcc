//! A reader of the event stream.

use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use reqwest::{RequestBuilder, Response};
use serde_json::Value;
use sse_stream::{Sse, SseByteStream};

/// Time limit of a test's wait for an event, in real time.
const TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub id: Option<String>,
    pub name: String,
    pub data: Value,
}

pub struct Events(BoxStream<'static, Result<Sse, sse_stream::Error>>);

#[allow(dead_code)]
impl Events {
    pub async fn open(request: RequestBuilder) -> Self {
        Self::of(request.send().await.unwrap())
    }

    pub fn of(response: Response) -> Self {
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self(SseByteStream::new(response.bytes_stream()).boxed())
    }

    /// The next event with a name; None when the stream has ended.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            let next = tokio::time::timeout(TIMEOUT, self.0.next()).await.expect("an event in time");
            let event = next?.ok()?;
            if let Some(name) = event.event {
                let data = event.data.map(|data| serde_json::from_str(&data).unwrap()).unwrap_or_default();
                return Some(Event { id: event.id, name, data });
            }
        }
    }

    /// Reads until the stream ends.
    pub async fn until_end(&mut self) {
        while self.next().await.is_some() {}
    }

    /// The next event, without a time limit; None when the stream has ended.
    pub async fn next_frame(&mut self) -> Option<Event> {
        loop {
            let event = self.0.next().await?.ok()?;
            if let Some(name) = event.event {
                let data = event.data.map(|data| serde_json::from_str(&data).unwrap()).unwrap_or_default();
                return Some(Event { id: event.id, name, data });
            }
        }
    }

    /// The id that the next frame sets, if it sets one.
    pub async fn next_id(&mut self) -> Option<String> {
        let next = tokio::time::timeout(TIMEOUT, self.0.next()).await.expect("a frame in time");
        next.expect("the stream goes on").unwrap().id
    }

    /// The next event with one of these names, skipping others.
    pub async fn next_named_any(&mut self, names: &[&str]) -> Event {
        loop {
            let event = self.next().await.expect("the stream goes on");
            if names.contains(&event.name.as_str()) {
                return event;
            }
        }
    }

    /// The next event with this name, skipping others.
    pub async fn next_named(&mut self, name: &str) -> Event {
        loop {
            let event = self.next().await.expect("the stream goes on");
            if event.name == name {
                return event;
            }
        }
    }
}
