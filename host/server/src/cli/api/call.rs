//! Calls of operations.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use clap::ArgMatches;
use futures_util::StreamExt as _;
use network_hub_client::{HubError, Method, Request};
use reqwest::Response;
use serde_json::{Map, Value, json};
use sse_stream::SseByteStream;
use tokio::time::{sleep, timeout};

use super::command::{self, BODY, FILE, HUB, JSON, MADE, OUTPUT, WATCH};
use super::operation::{Answer, Body, Input, Kind, Operation, Place};
use super::show;
use crate::cli::client::HubClient;
use crate::cli::output;

const WATCH_INTERVAL: Duration = Duration::from_secs(2);
/// Longest silence of a stream, on which the hub pings every 15 s.
const SILENCE: Duration = Duration::from_secs(40);
/// Longest pause before a stream is opened again, in seconds.
const MOST_PAUSE: u64 = 5;

/// Calls the operation and prints its answer.
pub(super) async fn run(operation: &Operation, matches: &ArgMatches) -> anyhow::Result<()> {
    let text = |id: &str| matches.get_one::<String>(id).cloned().unwrap_or_default();
    let hub = HubClient::new(&text(HUB), &text(MADE))?;
    let (path, body) = (path(operation, matches)?, body(operation, matches)?);
    let is_json = matches.get_flag(JSON);
    let ask =
        async || hub.answer(request(&hub, operation, matches, &path, body.clone())?).await.map_err(anyhow::Error::from);
    match operation.answer {
        Answer::Events => return follow_events(&hub, operation, matches, &path, is_json).await,
        Answer::Bytes => return save(ask().await?, matches.get_one::<String>(OUTPUT)).await,
        Answer::Json => {}
    }
    let is_watching = matches.try_get_one::<bool>(WATCH).is_ok_and(|it| it == Some(&true));
    loop {
        let answer = ask().await?.bytes().await.context("the answer broke off")?;
        let answer = if answer.is_empty() { Value::Null } else { serde_json::from_slice(&answer)? };
        if is_watching {
            output::clear_terminal();
        }
        match (is_json, &answer) {
            (true, answer) => println!("{}", serde_json::to_string_pretty(answer)?),
            (false, Value::Null) => println!("Done."),
            (false, answer) => print!("{}", show::answer(answer)),
        }
        if !is_watching {
            return Ok(());
        }
        sleep(WATCH_INTERVAL).await;
    }
}

/// Path with its values and the query.
fn path(operation: &Operation, matches: &ArgMatches) -> anyhow::Result<String> {
    let mut url = reqwest::Url::parse("http://hub").context("no URL")?;
    for segment in operation.path.split('/').skip(1) {
        let mut segments = url.path_segments_mut().map_err(|()| anyhow::anyhow!("no path"))?;
        let Some(name) = segment.strip_prefix('{').and_then(|it| it.strip_suffix('}')) else {
            segments.pop_if_empty().push(segment);
            continue;
        };
        let input = operation.inputs.iter().find(|it| it.place == Place::Path && it.name == name);
        let value = input.and_then(|input| values(input, matches).into_iter().next()).unwrap_or_default();
        // These two would be steps to other paths.
        ensure!(!matches!(&*value, "" | "." | ".."), "`{value}` is no {name}");
        segments.pop_if_empty().push(&value);
    }
    let mut query = vec![];
    for input in operation.inputs.iter().filter(|it| it.place == Place::Query) {
        query.extend(values(input, matches).into_iter().map(|value| (&input.name, value)));
    }
    if !query.is_empty() {
        url.query_pairs_mut().extend_pairs(query);
    }
    Ok(url.as_str().trim_start_matches("http://hub").to_owned())
}

/// Bytes to send, with their type.
fn body(operation: &Operation, matches: &ArgMatches) -> anyhow::Result<Option<(Vec<u8>, &'static str)>> {
    match operation.body {
        None => Ok(None),
        Some(Body::Bytes(kind)) => {
            let file = matches.get_one::<String>(FILE).context("no file")?;
            Ok(Some((if file == "-" { standard_input()? } else { read(file)? }, kind)))
        }
        Some(Body::Json { is_required }) => {
            let base = match matches.get_one::<String>(BODY).map(String::as_str) {
                None => None,
                Some("-") => Some(standard_input()?),
                Some(text) => Some(text.strip_prefix('@').map_or_else(|| Ok(text.as_bytes().to_vec()), read)?),
            };
            let base = base.map(|base| serde_json::from_slice::<Value>(&base).context("--body is not valid JSON"));
            let fields = fields(operation, matches)?;
            let body = match (base.transpose()?, fields.is_empty()) {
                (None, true) if !is_required => return Ok(None),
                (Some(base), true) => base,
                (None, _) => Value::Object(fields),
                (Some(Value::Object(mut base)), false) => {
                    base.extend(fields);
                    Value::Object(base)
                }
                (Some(_), false) => {
                    anyhow::bail!("--body is no JSON object, so that no option can change a field of it")
                }
            };
            Ok(Some((serde_json::to_vec(&body)?, "application/json")))
        }
    }
}

fn standard_input() -> anyhow::Result<Vec<u8>> {
    let mut bytes = vec![];
    std::io::stdin().read_to_end(&mut bytes).context("could not read standard input")?;
    Ok(bytes)
}

fn read(file: &str) -> anyhow::Result<Vec<u8>> {
    std::fs::read(file).with_context(|| format!("could not read {file}"))
}

fn fields(operation: &Operation, matches: &ArgMatches) -> anyhow::Result<Map<String, Value>> {
    let mut fields = Map::new();
    for input in operation.inputs.iter().filter(|it| it.place == Place::Body) {
        let values = values(input, matches);
        let Some(first) = values.first() else { continue };
        let parsed =
            || serde_json::from_str(first).with_context(|| format!("`{first}` is not valid JSON for {}", input.name));
        let value = match input.kind {
            Kind::Text | Kind::Choice(_) => json!(first),
            Kind::Texts => json!(values),
            Kind::Boolean => json!(is_true(first)),
            Kind::Integer | Kind::Number => first.parse().map_or_else(|_| parsed(), |number: i64| Ok(json!(number)))?,
            Kind::Json => parsed()?,
        };
        fields.insert(input.name.clone(), value);
    }
    Ok(fields)
}

/// The forms that clap's parser of truth values takes.
fn is_true(text: &str) -> bool {
    matches!(text.to_lowercase().as_str(), "y" | "yes" | "t" | "true" | "on" | "1")
}

/// Values of an input as they were given; their forms have been checked.
fn values(input: &Input, matches: &ArgMatches) -> Vec<String> {
    let given = matches.get_raw(&command::id(input)).into_iter().flatten().map(|it| it.to_string_lossy().into_owned());
    given
        .map(|value| match &input.kind {
            Kind::Boolean if input.place == Place::Query => is_true(&value).to_string(),
            // Choices are taken in any case.
            Kind::Choice(choices) => {
                choices.iter().find(|it| it.eq_ignore_ascii_case(&value)).cloned().unwrap_or(value)
            }
            _ => value,
        })
        .collect()
}

fn request(
    hub: &HubClient,
    operation: &Operation,
    matches: &ArgMatches,
    path: &str,
    body: Option<(Vec<u8>, &'static str)>,
) -> anyhow::Result<Request> {
    let mut request = hub.request(Method::from_bytes(operation.method.as_bytes())?, path);
    for input in operation.inputs.iter().filter(|it| it.place == Place::Header) {
        for value in values(input, matches) {
            request = request.header(&input.name, &value);
        }
    }
    Ok(match body {
        Some((bytes, kind)) => request.body(bytes, kind),
        None => request,
    })
}

/// Prints events until stopped, or refused by the hub: a stream that ends is opened again and goes on after the last
/// event.
async fn follow_events(
    hub: &HubClient,
    operation: &Operation,
    matches: &ArgMatches,
    path: &str,
    is_json: bool,
) -> anyhow::Result<()> {
    let (mut last, mut was_open, mut failures) = (None::<String>, false, 0_u64);
    loop {
        let mut request = request(hub, operation, matches, path, None)?;
        if let Some(id) = &last {
            request = request.header("Last-Event-ID", id);
        }
        let why = match hub.answer(request).await {
            Ok(response) => {
                (was_open, failures) = (true, 0);
                match print_events(response, is_json, &mut last).await {
                    // Its connector has the stream again: opening it would only take it away once more.
                    Ended::ByHub if path.contains("serverId=") => anyhow::bail!("the hub ended the stream"),
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

/// End of a stream.
enum Ended {
    ByHub,
    Broken(String),
}

/// Prints the events of a stream, their types with their fields or as JSON, and notes the id of the last one.
async fn print_events(response: Response, is_json: bool, last: &mut Option<String>) -> Ended {
    let mut events = SseByteStream::new(response.bytes_stream()).boxed();
    loop {
        let event = match timeout(SILENCE, events.next()).await {
            Ok(Some(Ok(event))) => event,
            Ok(Some(Err(error))) => return Ended::Broken(format!("the stream broke off: {error}")),
            Ok(None) => return Ended::ByHub,
            Err(_) => return Ended::Broken("the stream fell silent".to_owned()),
        };
        // Without them it only tells the reader where to resume.
        if let (Some(name), Some(text)) = (event.event, event.data) {
            let data = serde_json::from_str(&text).unwrap_or(Value::String(text));
            if is_json {
                println!("{}", json!({"id": event.id, "type": name, "data": data}));
            } else {
                println!("{name}  {}", show::line(&data));
            }
        }
        if event.id.is_some() {
            *last = event.id;
        }
    }
}

async fn save(response: Response, file: Option<&String>) -> anyhow::Result<()> {
    let mut target: Box<dyn std::io::Write + Send> = match file {
        Some(file) => Box::new(File::create_new(file).with_context(|| format!("could not create {file}"))?),
        None => Box::new(output::bytes().context("the answer is a file; set --output, or send it to a program")?),
    };
    let mut bytes = response.bytes_stream();
    while let Some(chunk) = bytes.next().await {
        target.write_all(&chunk.context("the answer broke off")?)?;
    }
    Ok(target.flush()?)
}
