//! Operations of the OpenAPI document, as their pages show them.

use std::collections::HashMap;
use std::sync::OnceLock;

use hub_core::http::publication::example_of;
use serde::Serialize;
use serde_json::Value;

use crate::content::Content;
use crate::markdown::prose;
use crate::reference::fields::{self, Field};
use crate::reference::samples::{self, Sample};
use crate::search::{self, Query};

/// Readers of the reference, and what they do with it.
const AUDIENCES: [(&str, &str); 3] = [
    ("Connectors", "Game servers, proxies and their agents, with a key of their network."),
    ("Owners and staff", "People of a network in the console, and their tools and bots."),
    ("Operator", "The operator of the hub, for all networks."),
];
const METHODS: [&str; 6] = ["get", "post", "put", "patch", "delete", "head"];
/// Occurrences of a word in the texts of an operation that count.
const MOST_HITS: usize = 5;

/// Body of a request or an answer.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Body {
    pub(crate) kind: String,
    pub(crate) shape: String,
    pub(crate) fields: Vec<Field>,
    pub(crate) example: String,
    #[serde(skip)]
    pub(crate) sample: Value,
}

/// Answer with a status.
#[derive(Debug, Serialize)]
pub(crate) struct Outcome {
    status: String,
    /// HTML.
    description: String,
    body: Option<Body>,
}

/// A route with its method.
#[derive(Debug, Serialize)]
pub(crate) struct Operation {
    pub(crate) id: String,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) tag: String,
    pub(crate) audience: usize,
    pub(crate) summary: String,
    /// HTML.
    description: String,
    scopes: Vec<String>,
    parameters: Vec<Field>,
    pub(crate) body: Option<Body>,
    answers: Vec<Outcome>,
    errors: Vec<Outcome>,
    samples: Vec<Sample>,
    pub(crate) streams: bool,
    #[serde(skip)]
    texts: Texts,
    #[serde(skip)]
    pub(crate) page: OnceLock<Content>,
}

/// Texts that the search reads: in lower case.
#[derive(Debug, Default)]
struct Texts {
    summary: String,
    path: String,
    rest: String,
    /// Names and descriptions as they are written, for excerpts.
    shown: String,
}

/// Operation that was found.
#[derive(Debug, Serialize)]
pub(crate) struct FoundOperation {
    id: String,
    method: String,
    tag: String,
    audience: &'static str,
    /// HTML with the words marked.
    path: String,
    summary: String,
    excerpt: String,
}

/// Operations with the same tag.
#[derive(Debug, Serialize)]
pub(crate) struct Area {
    pub(crate) tag: String,
    pub(crate) description: String,
    pub(crate) operations: Vec<usize>,
}

/// Areas for one kind of reader.
#[derive(Debug, Serialize)]
pub(crate) struct Audience {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) areas: Vec<Area>,
}

/// All operations.
#[derive(Debug)]
pub(crate) struct Api {
    pub(crate) operations: Vec<Operation>,
    pub(crate) audiences: Vec<Audience>,
    by_id: HashMap<String, usize>,
    /// HTML.
    pub(crate) about: String,
    pub(crate) index: OnceLock<Content>,
}

/// Place of an operation's readers in [`AUDIENCES`].
fn audience(path: &str, scopes: &[String]) -> usize {
    if path.starts_with("/api/admin") || scopes.iter().any(|scope| scope == "operator") {
        return 2;
    }
    let of_connectors = ["/api/plugin", "/api/worlds", "/api/version"];
    if of_connectors.iter().any(|start| path.starts_with(start)) {
        return 0;
    }
    if path.starts_with("/api/") { 1 } else { 2 }
}

impl Api {
    pub(crate) fn new(document: &Value) -> Self {
        let tags: Vec<_> = document["tags"].as_array().into_iter().flatten().collect();
        let mut operations = vec![];
        for (path, item) in document["paths"].as_object().into_iter().flatten() {
            let methods = METHODS.iter().filter_map(|method| Some((*method, item.get(*method)?)));
            operations.extend(methods.map(|(method, operation)| read(document, path, method, operation, &tags)));
        }
        let place = |operation: &Operation| tags.iter().position(|tag| tag["name"] == operation.tag);
        operations.sort_by_key(|operation| (operation.audience, place(operation)));
        let by_id = operations.iter().enumerate().map(|(at, operation)| (operation.id.clone(), at)).collect();
        let about = prose(document["info"]["description"].as_str().unwrap_or_default());
        let audiences = AUDIENCES.iter().enumerate().map(|(at, (name, description))| {
            let areas = tags.iter().filter_map(|tag| area(tag, at, &operations)).collect();
            Audience { name, description, areas }
        });
        Self { audiences: audiences.collect(), operations, by_id, about, index: OnceLock::new() }
    }

    pub(crate) fn find_one(&self, id: &str) -> Option<&Operation> {
        self.operations.get(*self.by_id.get(id)?)
    }

    /// Operations with all words, at most so many, the best first.
    pub(crate) fn find(&self, query: &Query, most: usize) -> Vec<FoundOperation> {
        if query.is_empty() {
            return vec![];
        }
        let scored = self.operations.iter().filter_map(|operation| Some((operation.score(query)?, operation)));
        let mut found: Vec<_> = scored.collect();
        found.sort_by_key(|(score, _)| usize::MAX - score);
        found.into_iter().take(most).map(|(_, operation)| operation.found(query)).collect()
    }
}

fn area(tag: &Value, audience: usize, operations: &[Operation]) -> Option<Area> {
    let name = tag["name"].as_str()?;
    let is_in = |operation: &Operation| operation.tag == name && operation.audience == audience;
    let of: Vec<_> = operations.iter().enumerate().filter(|(_, it)| is_in(it)).map(|(at, _)| at).collect();
    let description = tag["description"].as_str().unwrap_or_default().to_owned();
    (!of.is_empty()).then(|| Area { tag: name.to_owned(), description, operations: of })
}

impl Operation {
    /// Weight of the words; none if one is not there.
    fn score(&self, query: &Query) -> Option<usize> {
        let mut score = 0;
        for word in query.words() {
            let in_summary = 20 * search::weight(&self.texts.summary, word, 1);
            let in_path = 15 * search::weight(&self.texts.path, word, 1);
            let of_word = in_summary + in_path + search::weight(&self.texts.rest, word, MOST_HITS);
            if of_word == 0 {
                return None;
            }
            score += of_word;
        }
        Some(score)
    }

    /// The operation with the words marked.
    fn found(&self, query: &Query) -> FoundOperation {
        FoundOperation {
            id: self.id.clone(),
            method: self.method.clone(),
            tag: self.tag.clone(),
            audience: AUDIENCES[self.audience].0,
            path: query.mark(&self.path),
            summary: query.mark(&self.summary),
            excerpt: query.excerpt(&self.texts.shown),
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn read(document: &Value, path: &str, method: &str, operation: &Value, tags: &[&Value]) -> Operation {
    let security = operation["security"].as_array().into_iter().flatten().filter_map(Value::as_object).flatten();
    let scopes: Vec<_> = security.flat_map(|(_, scopes)| scopes.as_array().into_iter().flatten()).map(text).collect();
    let parameters: Vec<_> = operation["parameters"].as_array().into_iter().flatten().collect();
    let body = operation["requestBody"]["content"].as_object().and_then(|kinds| kinds.iter().next());
    let body = body.map(|(kind, content)| read_body(document, kind, content));
    let outcomes = operation["responses"].as_object().into_iter().flatten();
    let (answers, errors): (Vec<_>, Vec<_>) = outcomes
        .map(|(status, answer)| outcome(document, status, answer))
        .partition(|it| !it.status.starts_with(['4', '5']));
    let tag = text(&operation["tags"][0]);
    let about = tags.iter().find(|it| it["name"] == tag.as_str()).map(|it| text(&it["description"]));
    let description = text(&operation["description"]);
    let parameters: Vec<_> = parameters.iter().map(|it| fields::parameter(document, it)).collect();
    let method = method.to_uppercase();
    let streams = answers.iter().any(|it| it.body.as_ref().is_some_and(|body| body.kind == "text/event-stream"));
    let all_fields = || {
        let in_answers = answers.iter().filter_map(|answer| answer.body.as_ref()).flat_map(|body| &body.fields);
        parameters.iter().chain(body.iter().flat_map(|body| &body.fields)).chain(in_answers)
    };
    let mut rest = format!("{} {description} {tag}: {}", text(&operation["operationId"]), about.unwrap_or_default());
    for field in all_fields() {
        rest.extend([" ", &field.name, " ", &field.text, " ", &field.more]);
    }
    let rest = rest.split_whitespace().collect::<Vec<_>>().join(" ");
    let texts = Texts {
        summary: text(&operation["summary"]).to_ascii_lowercase(),
        path: path.to_ascii_lowercase(),
        rest: rest.to_ascii_lowercase(),
        shown: rest,
    };
    let samples = samples::all(
        &method,
        path,
        &operation["parameters"],
        document,
        body.as_ref(),
        streams,
        !answers.iter().any(|it| it.body.is_some()),
    );
    Operation {
        id: text(&operation["operationId"]),
        audience: audience(path, &scopes),
        path: path.to_owned(),
        summary: text(&operation["summary"]),
        description: prose(&description),
        page: OnceLock::new(),
        method,
        tag,
        scopes,
        parameters,
        body,
        answers,
        errors,
        samples,
        streams,
        texts,
    }
}

fn outcome(document: &Value, status: &str, answer: &Value) -> Outcome {
    let body = answer["content"].as_object().and_then(|kinds| kinds.iter().next());
    let is_error = status.starts_with(['4', '5']);
    // All errors have the same fields.
    let body = body.filter(|_| !is_error).map(|(kind, content)| read_body(document, kind, content));
    Outcome { status: status.to_owned(), description: prose(&text(&answer["description"])), body }
}

fn read_body(document: &Value, kind: &str, content: &Value) -> Body {
    let schema = &content["schema"];
    let is_json = kind == "application/json" || kind == "text/event-stream";
    let own = content.get("example").filter(|example| !example.is_null()).cloned();
    let sample = own.unwrap_or_else(|| if is_json { example_of(document, schema, 0) } else { Value::Null });
    let example = if is_json { serde_json::to_string_pretty(&sample).unwrap_or_default() } else { String::new() };
    Body {
        kind: kind.to_owned(),
        shape: fields::shape(document, schema),
        fields: if is_json { fields::of(document, schema) } else { vec![] },
        example,
        sample,
    }
}
