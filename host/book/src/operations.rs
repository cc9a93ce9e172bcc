//! Addresses of the reference.

use axum::Router;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::routing::get;
use hub_base::compute::compute;
use serde_json::{Value, json};

use crate::content::{Content, fresh};
use crate::leaves;
use crate::reference::document::{Api, Operation};
use crate::search::Query;
use crate::shared::{Shared, missing, parameter};

pub(crate) fn router() -> Router<Shared> {
    Router::new()
        .route("/api", get(index))
        .route("/docs/api", get(index))
        .route("/docs/api/{operation}", get(operation))
}

/// All operations, or those with the words of a query.
async fn index(State(shared): State<Shared>, RawQuery(query): RawQuery, headers: HeaderMap) -> Response {
    compute(|| {
        let api = shared.reference.get();
        let query = Query::new(&parameter(query.as_deref(), "q"));
        if query.text.is_empty() {
            return api.index.get_or_init(|| Content::html(show_index(api, &query))).answer(&headers);
        }
        fresh(StatusCode::OK, show_index(api, &query), &headers)
    })
    .await
}

async fn operation(State(shared): State<Shared>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    compute(|| {
        let api = shared.reference.get();
        match api.find_one(&id) {
            Some(operation) => {
                operation.page.get_or_init(|| Content::html(show_operation(api, operation))).answer(&headers)
            }
            None => missing(&id, &headers),
        }
    })
    .await
}

fn line(operation: &Operation) -> Value {
    json!({"id": operation.id, "method": operation.method, "path": operation.path, "summary": operation.summary,
        "tag": operation.tag})
}

/// Values of every page of the reference: all areas, with the operations of the open one.
fn around(api: &Api, open: Option<&Operation>) -> Value {
    let audiences = api.audiences.iter().enumerate().map(|(at, audience)| {
        let areas = audience.areas.iter().map(|area| {
            let is_open = open.is_some_and(|it| it.tag == area.tag && it.audience == at);
            let lines: Vec<_> = area.operations.iter().filter_map(|at| api.operations.get(*at)).map(line).collect();
            json!({"tag": area.tag, "description": area.description, "operations": lines, "isOpen": is_open,
                "anchor": anchor(at, &area.tag)})
        });
        let is_open = open.is_some_and(|it| it.audience == at);
        json!({"name": audience.name, "description": audience.description, "isOpen": is_open,
            "areas": areas.collect::<Vec<_>>()})
    });
    json!({"audiences": audiences.collect::<Vec<_>>(), "part": "api"})
}

fn anchor(audience: usize, tag: &str) -> String {
    format!("{}-{}", ["connectors", "owners", "operator"][audience], crate::markdown::anchor(tag))
}

fn show_index(api: &Api, query: &Query) -> String {
    let mut context = around(api, None);
    // The list changes while a person types.
    context["live"] = true.into();
    context["about"] = api.about.as_str().into();
    context["query"] = query.text.as_str().into();
    context["found"] = json!(api.find(query, usize::MAX));
    leaves::render("reference.html", &context)
}

fn show_operation(api: &Api, operation: &Operation) -> String {
    let mut context = around(api, Some(operation));
    context["operation"] = json!(operation);
    let lines = operation.body.as_ref().map_or(0, |body| body.example.lines().count());
    context["operation"]["bodyLines"] = lines.clamp(3, 16).into();
    context["title"] = operation.summary.as_str().into();
    context["anchor"] = anchor(operation.audience, &operation.tag).into();
    context["audience"] = api.audiences.get(operation.audience).map(|audience| audience.name).into();
    leaves::render("operation.html", &context)
}
