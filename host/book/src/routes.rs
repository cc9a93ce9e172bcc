//! Addresses of the book.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::from_fn;
use axum::response::{Redirect, Response};
use axum::routing::get;
use hub_base::compute::compute;
use serde_json::{Value, json};

use crate::book::{Book, book};
use crate::content::{Content, fresh};
use crate::reference::Reference;
use crate::search::Query;
use crate::shared::{Shared, around, index, missing, parameter};
use crate::{leaves, machines, operations, styles};

/// Routes of the book and the reference. `document` makes the OpenAPI document.
pub fn router(document: fn() -> Value) -> Router {
    let shared = Shared { reference: Arc::new(Reference::new(document)) };
    Router::new()
        .route("/docs", get(async |headers: HeaderMap| open("", &headers).await))
        .route("/docs/", get(async || Redirect::permanent("/docs")))
        .route("/docs/search", get(search))
        .route("/docs/llms-full.txt", get(whole))
        .route("/docs/assets/{version}/{*file}", get(styles::serve))
        .route("/docs/{*path}", get(async |Path(path): Path<String>, headers: HeaderMap| open(&path, &headers).await))
        .route("/llms.txt", get(list))
        .merge(operations::router())
        .layer(from_fn(hub_console::look::headers))
        .with_state(shared)
}

/// A page, or a file as it is.
async fn open(path: &str, headers: &HeaderMap) -> Response {
    compute(|| {
        let book = book();
        if let Some(at) = book.find(path) {
            let page = &book.pages[at];
            return page.html.get_or_init(|| Content::html(show(book, at))).answer(headers);
        }
        match book.file(path) {
            Some(file) => file.answer(headers),
            None => missing(path, headers),
        }
    })
    .await
}

async fn search(State(shared): State<Shared>, RawQuery(query): RawQuery, headers: HeaderMap) -> Response {
    compute(|| {
        let query = Query::new(&parameter(query.as_deref(), "q"));
        let book = book();
        let mut context = around(book, None);
        context["found"] = json!(index(book).find(book, &query));
        context["operations"] = json!(shared.reference.get().find(&query, 5));
        context["query"] = query.text.into();
        fresh(StatusCode::OK, leaves::render("search.html", &context), &headers)
    })
    .await
}

async fn list(headers: HeaderMap) -> Response {
    compute(|| book().list.get_or_init(|| machines::list(book())).answer(&headers)).await
}

async fn whole(headers: HeaderMap) -> Response {
    compute(|| book().whole.get_or_init(|| machines::whole(book())).answer(&headers)).await
}

/// Renders a page.
fn show(book: &Book, at: usize) -> String {
    let page = &book.pages[at];
    let rendered = book.render(page);
    let beside = |at: Option<usize>| {
        at.and_then(|at| book.pages.get(at)).map(|page| json!({"address": page.address, "title": page.title}))
    };
    let headings = rendered.sections.iter().map(|section| &section.heading);
    let contents: Vec<_> = headings
        .filter(|heading| (2..=3).contains(&heading.level))
        .map(|heading| json!({"level": heading.level, "anchor": heading.anchor, "text": heading.text}))
        .collect();
    let mut context = around(book, Some(at));
    context["title"] = page.title.as_str().into();
    context["lead"] = rendered.lead.into();
    context["group"] = page.group.and_then(|at| book.groups.get(at)).cloned().into();
    context["file"] = format!("/docs/{}", page.file).into();
    context["html"] = rendered.html.into();
    context["contents"] = json!(contents);
    context["previous"] = json!(beside(at.checked_sub(1)));
    context["next"] = json!(beside(Some(at + 1)));
    leaves::render("page.html", &context)
}
