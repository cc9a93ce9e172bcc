//! Parts that the pages of the book and those of the reference share.

use std::sync::{Arc, OnceLock};

use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde_json::{Value, json};

use crate::book::{Book, Page, book};
use crate::content::fresh;
use crate::leaves;
use crate::reference::Reference;
use crate::search::{Index, Query};

/// Parts that all pages share.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    pub(crate) reference: Arc<Reference>,
}

/// Value of a parameter of the query.
pub(crate) fn parameter(query: Option<&str>, name: &str) -> String {
    // Longer ones are cut before they are decoded.
    let query = query.unwrap_or_default();
    let query = query.get(..2048).unwrap_or(query);
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    pairs.find(|(key, _)| key == name).map(|(_, value)| value.into_owned()).unwrap_or_default()
}

/// Words of an address without a page that are searched for: anybody may ask for many such addresses.
const MOST_WORDS: usize = 2;

/// The page of an address without a page: the search for its words.
pub(crate) fn missing(path: &str, headers: &HeaderMap) -> Response {
    let words = path.rsplit('/').next().unwrap_or_default().replace(['-', '_', '.'], " ");
    let query = Query::new(words.trim_end_matches(" md")).with_longest(MOST_WORDS);
    let book = book();
    let found = index(book).find(book, &query);
    let mut context = around(book, None);
    context["query"] = query.text.into();
    context["found"] = json!(found.into_iter().take(5).collect::<Vec<_>>());
    fresh(StatusCode::NOT_FOUND, leaves::render("missing.html", &context), headers)
}

/// Texts of all pages, read at the first search.
pub(crate) fn index(book: &'static Book) -> &'static Index {
    static INDEX: OnceLock<Index> = OnceLock::new();
    INDEX.get_or_init(|| Index::new(book))
}

/// Values of every page of the book: the contents, with the group of the open page unfolded.
pub(crate) fn around(book: &Book, open: Option<usize>) -> Value {
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
