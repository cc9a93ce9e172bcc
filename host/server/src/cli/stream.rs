//! The event stream, followed until stopped or refused by the hub: one that ends is opened again and goes on after the last
//! event.

use std::time::Duration;

use futures_util::StreamExt as _;
use network_hub_client::{HubError, Request};
use reqwest::Response;
use sse_stream::SseByteStream;
use tokio::time::{sleep, timeout};

use crate::cli::client::HubClient;

/// Longest silence of a stream, on which the hub pings every 15 s.
const SILENCE: Duration = Duration::from_secs(40);
/// Longest pause before a stream is opened again, in seconds.
const MOST_PAUSE: u64 = 5;

/// An event, with its data as text.
pub(super) struct Event {
    pub(super) id: Option<String>,
    pub(super) name: String,
    pub(super) data: String,
}

/// End of a stream.
enum Ended {
    ByHub,
    Broken(String),
}

/// Takes all events of the stream that a request opens. That of a server ends for good when the hub ends it: its connector has
/// the stream again, and opening it would only take it away once more.
pub(super) async fn follow(
    hub: &HubClient,
    request: impl Fn() -> anyhow::Result<Request>,
    is_of_server: bool,
    mut take: impl AsyncFnMut(Event),
) -> anyhow::Result<()> {
    let (mut last, mut was_open, mut failures) = (None::<String>, false, 0_u64);
    loop {
        let mut request = request()?;
        if let Some(id) = &last {
            request = request.header("Last-Event-ID", id);
        }
        let why = match hub.answer(request).await {
            Ok(response) => {
                (was_open, failures) = (true, 0);
                match take_events(response, &mut last, &mut take).await {
                    Ended::ByHub if is_of_server => anyhow::bail!("the hub ended the stream"),
                    Ended::ByHub => "the hub ended the stream".to_owned(),
                    Ended::Broken(why) => why,
                }
            }
            Err(error) if !was_open || is_refusal(&error) => return Err(error.into()),
            Err(error) => error.message(),
        };
        failures += 1;
        let pause = failures.min(MOST_PAUSE);
        eprintln!("hub: {why}; opening it again in {pause} s");
        sleep(Duration::from_secs(pause)).await;
    }
}

/// True if the hub says no, however often it is asked.
fn is_refusal(error: &HubError) -> bool {
    error.status().is_some_and(|status| status.is_client_error()) && !error.is_transient()
}

/// Takes the events of one connection, and notes the id of the last one.
async fn take_events(response: Response, last: &mut Option<String>, take: &mut impl AsyncFnMut(Event)) -> Ended {
    let mut events = SseByteStream::new(response.bytes_stream()).boxed();
    loop {
        let event = match timeout(SILENCE, events.next()).await {
            Ok(Some(Ok(event))) => event,
            Ok(Some(Err(error))) => return Ended::Broken(format!("the stream broke off: {error}")),
            Ok(None) => return Ended::ByHub,
            Err(_) => return Ended::Broken("the stream fell silent".to_owned()),
        };
        // Without them it only tells the reader where to resume.
        if let (Some(name), Some(data)) = (event.event, event.data) {
            take(Event { id: event.id.clone(), name, data }).await;
        }
        if event.id.is_some() {
            *last = event.id;
        }
    }
}
