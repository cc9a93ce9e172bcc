//! All pages of the book, in their order.

use std::collections::{BTreeSet, HashMap};
use std::sync::{LazyLock, OnceLock};

use crate::content::Content;
use crate::contents::{self, Group, MAP};
use crate::files::{self, Files};
use crate::markdown::{self, Rendered, Target};

/// A page: its texts for the contents, and what it is once it was asked for.
#[derive(Debug)]
pub(crate) struct Page {
    /// Path of the file below `docs/`.
    pub(crate) file: String,
    pub(crate) address: String,
    pub(crate) title: String,
    /// Name in the navigation.
    pub(crate) name: String,
    /// A line about it.
    pub(crate) line: String,
    /// Group of the contents; none for the map itself.
    pub(crate) group: Option<usize>,
    pub(crate) is_below: bool,
    pub(crate) text: String,
    pub(crate) html: OnceLock<Content>,
}

/// The book of this version of the hub.
#[derive(Debug)]
pub(crate) struct Book {
    /// The map is the first.
    pub(crate) pages: Vec<Page>,
    pub(crate) groups: Vec<String>,
    /// Places of the pages by their addresses below `/docs`.
    by_path: HashMap<String, usize>,
    files: Files,
    /// Files as they are, once they were asked for.
    contents: HashMap<String, OnceLock<Content>>,
    /// Files made of all pages.
    pub(crate) list: OnceLock<Content>,
    pub(crate) whole: OnceLock<Content>,
}

/// The book, which is read when somebody opens it.
pub(crate) fn book() -> &'static Book {
    static BOOK: LazyLock<Book> = LazyLock::new(|| Book::new(files::all()));
    &BOOK
}

impl Book {
    fn new(files: Files) -> Self {
        let text =
            |file: &str| files.get(file).map(|bytes| String::from_utf8_lossy(bytes).into_owned()).unwrap_or_default();
        let names: BTreeSet<_> = files.keys().map(String::as_str).filter(|name| files::is_page(name)).collect();
        let groups = contents::groups(&text(MAP), &names);
        let mut pages = vec![page(MAP, "All pages", "", None, false, text(MAP))];
        for (number, Group { entries, .. }) in groups.iter().enumerate() {
            for entry in entries {
                let text = text(&entry.file);
                pages.push(page(&entry.file, &entry.name, &entry.question, Some(number), entry.is_below, text));
            }
        }
        let by_path = pages.iter().enumerate().map(|(at, page)| (path_of(&page.file).to_owned(), at)).collect();
        let served = files.keys().filter(|name| files::kind(name).is_some());
        let contents = served.map(|name| (name.clone(), OnceLock::new())).collect();
        let groups = groups.into_iter().map(|group| group.title).collect();
        let (list, whole) = (OnceLock::new(), OnceLock::new());
        Self { pages, groups, by_path, files, contents, list, whole }
    }

    /// Place of the page at a path below `/docs`.
    pub(crate) fn find(&self, path: &str) -> Option<usize> {
        self.by_path.get(path).copied()
    }

    /// A file of `docs/` as it is.
    pub(crate) fn file(&self, name: &str) -> Option<&Content> {
        let content = self.contents.get(name)?;
        let (kind, bytes) = (files::kind(name)?, self.files.get(name)?);
        Some(content.get_or_init(|| Content::new(kind, bytes.to_vec())))
    }

    /// A page as HTML and as text.
    pub(crate) fn render(&self, page: &Page) -> Rendered {
        markdown::render(&page.text, |destination| self.target(&page.file, destination))
    }

    /// Destination of a link on a page: an address of the book, of another site, or a file that is not in the book.
    fn target(&self, from: &str, destination: &str) -> Target {
        let is_elsewhere = destination.split(['/', '#', '?']).next().is_some_and(|first| first.contains(':'));
        if is_elsewhere || destination.starts_with(['#', '/']) {
            return Target::Address(destination.to_owned());
        }
        let (path, anchor) = destination.split_once('#').map_or((destination, None), |(path, at)| (path, Some(at)));
        let mut parts: Vec<_> = std::iter::once("docs").chain(from.split('/')).collect();
        parts.pop();
        for part in path.trim_end_matches('/').split('/') {
            match part {
                ".." => drop(parts.pop()),
                "." | "" => {}
                part => parts.push(part),
            }
        }
        let path = parts.join("/");
        let inside =
            path.strip_prefix("docs").and_then(|rest| rest.strip_prefix('/').or(rest.is_empty().then_some("")));
        let page = inside.and_then(|inside| self.find(path_of(inside)));
        let address = match (page, inside) {
            (Some(page), _) => Some(self.pages[page].address.clone()),
            (None, Some(inside)) => self.contents.contains_key(inside).then(|| format!("/docs/{inside}")),
            (None, None) => None,
        };
        match (address, anchor) {
            (Some(address), Some(anchor)) => Target::Address(format!("{address}#{anchor}")),
            (Some(address), None) => Target::Address(address),
            (None, _) => Target::Outside(path),
        }
    }
}

/// Path of a page below `/docs`: a map's is its folder's.
fn path_of(file: &str) -> &str {
    let path = file.strip_suffix(".md").unwrap_or(file);
    if path == "README" { "" } else { path.strip_suffix("/README").unwrap_or(path) }
}

fn page(file: &str, name: &str, question: &str, group: Option<usize>, is_below: bool, text: String) -> Page {
    let title = text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or(file).replace('`', "");
    let line = if question.is_empty() {
        markdown::first_sentence(&markdown::plain(&text)).into_owned()
    } else {
        question.to_owned()
    };
    let path = path_of(file);
    let address = if path.is_empty() { "/docs".to_owned() } else { format!("/docs/{path}") };
    let name = if name.is_empty() { title.clone() } else { name.to_owned() };
    let (file, html) = (file.to_owned(), OnceLock::new());
    Page { file, address, title, name, line, group, is_below, text, html }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_links_become_addresses() {
        let files = [("README.md", "# Map\n"), ("a/README.md", "# A\n"), ("a/b.md", "# B\n"), ("a/c.png", "")];
        let files = files.map(|(name, text)| (name.to_owned(), text.as_bytes().into()));
        let book = Book::new(Files::from(files));
        let to = |from: &str, destination: &str| book.target(from, destination);
        let address = |text: &str| Target::Address(text.to_owned());
        assert_eq!(to("a/b.md", "README.md"), address("/docs/a"));
        assert_eq!(to("a/b.md", "../a#x"), address("/docs/a#x"));
        assert_eq!(to("README.md", "a/b.md#y"), address("/docs/a/b#y"));
        assert_eq!(to("a/b.md", "../README.md"), address("/docs"));
        assert_eq!(to("a/README.md", "c.png"), address("/docs/a/c.png"));
        assert_eq!(to("a/b.md", "../../deploy/hub.toml"), Target::Outside("deploy/hub.toml".to_owned()));
        assert_eq!(to("a/b.md", "none.md"), Target::Outside(concat!("docs/", "a/none.md").to_owned()));
        assert_eq!(to("a/b.md", "http://x:1/"), address("http://x:1/"));
        assert_eq!(to("a/b.md", "#here"), address("#here"));
    }

    #[test]
    fn every_page_of_the_checkout_is_in_the_book() {
        let book = book();
        assert!(book.pages.len() > 100 && book.groups.len() > 5, "{} {}", book.pages.len(), book.groups.len());
        let without: Vec<_> = book.pages.iter().filter(|page| page.line.is_empty()).map(|page| &page.file).collect();
        assert!(without.is_empty(), "pages without a first sentence: {without:?}");
        for path in ["search", "api", "assets"] {
            assert!(book.find(path).is_none(), "docs/{path} is hidden by a route");
        }
    }
}
