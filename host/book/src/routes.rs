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

use crate::answer::{Content, fresh};
use crate::book::{Book, Page, book};
use crate::reference::{self, Reference};
use crate::search::{Index, Query};
use crate::{assets, machines, templates};

/// Parts that all pages share.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    pub(crate) reference: Arc<Reference>,
}

/// Routes of the book and the reference. `document` makes the OpenAPI document.
pub fn router(document: fn() -> Value) -> Router {
    let shared = Shared { reference: Arc::new(Reference::new(document)) };
    Router::new()
        .route("/docs", get(async |headers: HeaderMap| open("", &headers).await))
        .route("/docs/", get(async || Redirect::permanent("/docs")))
        .route("/docs/search", get(search))
        .route("/docs/llms-full.txt", get(whole))
        .route("/docs/assets/{version}/{*file}", get(assets::serve))
        .route("/docs/{*path}", get(async |Path(path): Path<String>, headers: HeaderMap| open(&path, &headers).await))
        .route("/llms.txt", get(list))
        .merge(reference::routes::router())
        .layer(from_fn(hub_console::look::headers))
        .with_state(shared)
}

/// Value of a parameter of the query.
pub(crate) fn parameter(query: Option<&str>, name: &str) -> String {
    // Longer ones are cut before they are decoded.
    let query = query.unwrap_or_default();
    let query = query.get(..2048).unwrap_or(query);
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    pairs.find(|(key, _)| key == name).map(|(_, value)| value.into_owned()).unwrap_or_default()
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

/// The page of an address without a page: the search for its words.
pub(crate) fn missing(path: &str, headers: &HeaderMap) -> Response {
    let words = path.rsplit('/').next().unwrap_or_default().replace(['-', '_', '.'], " ");
    let query = Query::new(words.trim_end_matches(" md"));
    let book = book();
    let found = index(book).find(book, &query);
    let mut context = around(book, None);
    context["query"] = query.text.into();
    context["found"] = json!(found.into_iter().take(5).collect::<Vec<_>>());
    fresh(StatusCode::NOT_FOUND, templates::render("missing.html", &context), headers)
}

fn index(book: &'static Book) -> &'static Index {
    book.index.get_or_init(|| Index::new(book))
}

async fn search(State(shared): State<Shared>, RawQuery(query): RawQuery, headers: HeaderMap) -> Response {
    compute(|| {
        let query = Query::new(&parameter(query.as_deref(), "q"));
        let book = book();
        let mut context = around(book, None);
        context["found"] = json!(index(book).find(book, &query));
        context["operations"] = json!(shared.reference.get().find(&query).into_iter().take(5).collect::<Vec<_>>());
        context["query"] = query.text.into();
        fresh(StatusCode::OK, templates::render("search.html", &context), &headers)
    })
    .await
}

async fn list(headers: HeaderMap) -> Response {
    compute(|| book().list.get_or_init(|| machines::list(book())).answer(&headers)).await
}

async fn whole(headers: HeaderMap) -> Response {
    compute(|| book().whole.get_or_init(|| machines::whole(book())).answer(&headers)).await
}

/// Values of every page of the book: the contents, with the group of the open page unfolded.
fn around(book: &Book, open: Option<usize>) -> Value {
    let current = open.and_then(|at| book.pages.get(at));
    let folder = current.map(|page| folder(&page.file));
    // Pages below another are shown only to readers who are among them.
    let is_shown = |page: &&Page| !page.is_below || folder.is_some_and(|folder| folder == self::folder(&page.file));
    let entry = |page: &Page| {
        json!({"address": page.address, "name": page.name, "isBelow": page.is_below,
            "isCurrent": current.is_some_and(|current| current.file == page.file)})
    };
    let groups = book.groups.iter().enumerate().map(|(number, title)| {
        let pages = book.pages.iter().filter(|page| page.group == Some(number)).filter(is_shown);
        let is_open = current.map_or(number == 0, |page| page.group == Some(number));
        json!({"title": title, "isOpen": is_open, "pages": pages.map(entry).collect::<Vec<_>>()})
    });
    json!({"groups": groups.collect::<Vec<_>>(), "part": "book"})
}

fn folder(file: &str) -> &str {
    file.rsplit_once('/').map_or("", |(folder, _)| folder)
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
    templates::render("page.html", &context)
}
