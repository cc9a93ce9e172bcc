//! The book for programs: `/llms.txt` and all pages in one file. Each page as Markdown is its file.

use std::fmt::Write as _;

use crate::book::{Book, Page};
use crate::content::Content;
use crate::markdown::plain;

const TEXT: &str = "text/plain; charset=utf-8";

/// Title and summary of the hub.
fn head(book: &Book) -> String {
    let about = book.find("start/what-it-is").map(|at| plain(&book.pages[at].text)).unwrap_or_default();
    format!("# Network Hub {}\n\n> {about}\n\n", env!("CARGO_PKG_VERSION"))
}

fn file(page: &Page) -> String {
    format!("/docs/{}", page.file)
}

/// List of all pages by group, with one line about each.
pub(crate) fn list(book: &Book) -> Content {
    let mut text = head(book);
    text.push_str(
        "Each page is Markdown at its address; addresses are of this hub. All pages in one file: /docs/llms-full.txt. \
         The routes: /api/openapi.json. The events: /api/asyncapi.json.\n\n- [All pages](/docs/README.md): by question\n",
    );
    for (number, group) in book.groups.iter().enumerate() {
        // Writing to a text does not fail.
        let _ = write!(text, "\n## {group}\n\n");
        for page in book.pages.iter().filter(|page| page.group == Some(number)) {
            let _ = writeln!(text, "- [{}]({}): {}", page.title, file(page), page.line);
        }
    }
    Content::new(TEXT, text)
}

/// All pages, each under its address.
pub(crate) fn whole(book: &Book) -> Content {
    let mut text = head(book);
    for page in book.pages.iter().skip(1) {
        let _ = write!(text, "\n---\n\nSource: {}\n\n{}\n", file(page), page.text.trim());
    }
    Content::new(TEXT, text)
}
