//! Calls of operations.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use clap::{ArgMatches, FromArgMatches as _};
use futures_util::StreamExt as _;
use network_hub_client::{HubError, Method, Request};
use reqwest::Response;
use serde_json::{Map, Value, json};
use tokio::time::sleep;

use super::command::{self, BODY, FILE, MADE, OUTPUT, WATCH};
use super::names::kebab;
use super::operation::{Answer, Body, Input, Kind, Operation, Place};
use super::show;
use crate::cli::client::{HubClient, Told};
use crate::cli::output;
use crate::cli::remote::Remote;
use crate::cli::stream::{self, Event};
use crate::cli::typed;

const WATCH_INTERVAL: Duration = Duration::from_secs(2);

/// Calls the operation and prints its answer.
pub(super) async fn run(operation: &Operation, matches: &ArgMatches) -> anyhow::Result<()> {
    let hub = Remote::from_arg_matches(matches)?.client()?;
    let (path, body) = (path(operation, matches)?, body(operation, matches)?);
    let is_json = matches.get_flag(MADE);
    let ask = async || {
        let answer = hub.answer(request(&hub, operation, matches, &path, body.clone())?).await;
        answer.map_err(|error| told(operation, error))
    };
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
            (true, answer) => print_json!(answer),
            (false, Value::Null) => println!("Done."),
            (false, answer) => print!("{}", show::answer(answer)),
        }
        if !is_watching {
            return Ok(());
        }
        sleep(WATCH_INTERVAL).await;
    }
}

/// The hub's refusal, with the argument in place of the field that it names.
fn told(operation: &Operation, error: HubError) -> anyhow::Error {
    let message = error.message();
    let places = [("In the body, `", Place::Body), ("In the query, `", Place::Query), ("In the path, `", Place::Path)];
    for (start, place) in places {
        let Some((field, reason)) = message.strip_prefix(start).and_then(|rest| rest.split_once("`: ")) else {
            continue;
        };
        let name = field.split(['.', '[']).next().unwrap_or(field);
        if let Some(input) = operation.inputs.iter().find(|input| input.place == place && input.name == name) {
            let argument = command::shown(input);
            let part = field.strip_prefix(name).filter(|part| !part.is_empty());
            let part = part.map(|part| format!(" (`{}`)", part.trim_start_matches('.'))).unwrap_or_default();
            let text = format!("{argument}{part}: {}", reason.trim_end_matches('.'));
            return Told { text, code: error.code().to_owned() }.into();
        }
    }
    error.into()
}

/// Path with its values and the query.
fn path(operation: &Operation, matches: &ArgMatches) -> anyhow::Result<String> {
    let in_path = |name: &str| {
        let input = operation.inputs.iter().find(|it| it.place == Place::Path && it.name == name);
        input.and_then(|input| values(input, matches).into_iter().next()).unwrap_or_default()
    };
    let mut query = vec![];
    for input in operation.inputs.iter().filter(|it| it.place == Place::Query) {
        query.extend(values(input, matches).into_iter().map(|value| (input.name.as_str(), value)));
    }
    request_path(&operation.path, in_path, &query)
}

/// Path of a template such as `/players/{uuid}`, with a value in each place and the query.
pub(in crate::cli) fn request_path(
    template: &str,
    value: impl Fn(&str) -> String,
    query: &[(&str, String)],
) -> anyhow::Result<String> {
    let mut url = reqwest::Url::parse("http://hub").context("no URL")?;
    for segment in template.split('/').skip(1) {
        let mut segments = url.path_segments_mut().map_err(|()| anyhow::anyhow!("no path"))?;
        let Some(name) = segment.strip_prefix('{').and_then(|it| it.strip_suffix('}')) else {
            segments.pop_if_empty().push(segment);
            continue;
        };
        let value = value(name);
        // These two would be steps to other paths.
        ensure!(!matches!(&*value, "" | "." | ".."), "`{value}` is no {name}");
        segments.pop_if_empty().push(&value);
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
            let base = matches.get_one::<String>(BODY).map(|typed| match typed.as_str() {
                "-" => serde_json::from_slice(&standard_input()?).context("--body: standard input is not valid JSON"),
                typed => typed::json_or_file::<Value>("--body", typed),
            });
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
    std::io::stdin().read_to_end(&mut bytes).context("cannot read standard input")?;
    Ok(bytes)
}

fn read(file: &str) -> anyhow::Result<Vec<u8>> {
    std::fs::read(file).with_context(|| format!("cannot read {file}"))
}

fn fields(operation: &Operation, matches: &ArgMatches) -> anyhow::Result<Map<String, Value>> {
    let mut fields = Map::new();
    for input in operation.inputs.iter().filter(|it| it.place == Place::Body) {
        let values = values(input, matches);
        let Some(first) = values.first() else { continue };
        let parsed = || typed::json(&format!("--{}", kebab(&input.name)), first);
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

/// Prints events, their types with their fields or as JSON, until stopped or refused by the hub.
async fn follow_events(
    hub: &HubClient,
    operation: &Operation,
    matches: &ArgMatches,
    path: &str,
    is_json: bool,
) -> anyhow::Result<()> {
    let request = || request(hub, operation, matches, path, None);
    stream::follow(hub, request, path.contains("serverId="), async |event: Event| {
        let Event { id, name, data } = event;
        let data = serde_json::from_str(&data).unwrap_or(Value::String(data));
        if is_json {
            println!("{}", json!({"id": id, "type": name, "data": data}));
        } else {
            println!("{name}  {}", show::line(&data));
        }
    })
    .await
}

async fn save(response: Response, file: Option<&String>) -> anyhow::Result<()> {
    let mut target: Box<dyn std::io::Write + Send> = match file {
        Some(file) => Box::new(File::create_new(file).with_context(|| format!("cannot create {file}"))?),
        None => Box::new(output::bytes().context("the answer is a file; set --output, or send it to a program")?),
    };
    let mut bytes = response.bytes_stream();
    while let Some(chunk) = bytes.next().await {
        target.write_all(&chunk.context("the answer broke off")?)?;
    }
    Ok(target.flush()?)
}
