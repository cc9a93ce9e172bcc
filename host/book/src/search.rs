//! Search over the text of all pages.

use std::collections::BTreeSet;

use hub_console::look::escaped;
use serde::Serialize;

use crate::book::Book;
use crate::markdown::Heading;

/// Bounds of a search: characters and words of the query that are read, and pages that are found.
pub(crate) const MOST_LETTERS: usize = 100;
const MOST_WORDS: usize = 8;
const MOST_FOUND: usize = 30;
/// Characters of an excerpt before the first word, and in all.
const BEFORE: usize = 60;
const EXCERPT: usize = 220;
/// Occurrences of a word in a page's text that count.
const MOST_HITS: usize = 12;

/// Words to be found, in lower case.
#[derive(Clone, Debug, Default)]
pub(crate) struct Query {
    pub(crate) text: String,
    words: Vec<String>,
}

impl Query {
    pub(crate) fn new(text: &str) -> Self {
        let text: String = text.trim().chars().take(MOST_LETTERS).collect();
        let words = text.split(|letter: char| !letter.is_alphanumeric() && !matches!(letter, '_' | '-'));
        let words: BTreeSet<_> = words.filter(|word| !word.is_empty()).map(str::to_ascii_lowercase).collect();
        Self { words: words.into_iter().take(MOST_WORDS).collect(), text }
    }

    /// The query with this many of its words, the longest.
    pub(crate) fn with_longest(mut self, most: usize) -> Self {
        self.words.sort_by_key(|word| usize::MAX - word.len());
        self.words.truncate(most);
        self
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    pub(crate) fn words(&self) -> &[String] {
        &self.words
    }

    /// HTML of a text with the words marked.
    pub(crate) fn mark(&self, text: &str) -> String {
        let lower = text.to_ascii_lowercase();
        let mut html = String::with_capacity(text.len() + 40);
        let mut at = 0;
        while let Some((start, length)) = self.next(&lower, at) {
            html.push_str(&escaped(&text[at..start]));
            html.extend(["<mark>", &escaped(&text[start..start + length]), "</mark>"]);
            at = start + length;
        }
        html + &escaped(&text[at..])
    }

    /// Place and length of the next word; the longest of those that begin there.
    fn next(&self, lower: &str, from: usize) -> Option<(usize, usize)> {
        let found = self.words.iter().filter_map(|word| Some((hits(&lower[from..], word).next()? + from, word.len())));
        found.min_by_key(|(at, length)| (*at, usize::MAX - length))
    }

    /// A part of the text around the first word.
    pub(crate) fn excerpt(&self, text: &str) -> String {
        let lower = text.to_ascii_lowercase();
        let first = self.next(&lower, 0).map_or(0, |(at, _)| at);
        let start = text[..floor(text, first.saturating_sub(BEFORE))].rfind(' ').map_or(0, |space| space + 1);
        let end = floor(text, start + EXCERPT);
        // The last word is left out where it is cut.
        let space = if end < text.len() { text[start..end].rfind(' ') } else { None };
        let end = space.map_or(end, |space| start + space);
        let (left, right) = (if start > 0 { "… " } else { "" }, if end < text.len() { " …" } else { "" });
        format!("{left}{}{right}", self.mark(text[start..end].trim()))
    }
}

/// The last place of a letter at or before this one.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// Places where a word begins with these letters. Both are in lower case.
pub(crate) fn hits<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    text.match_indices(word)
        .map(|(at, _)| at)
        .filter(|at| !text[..*at].ends_with(|letter: char| letter.is_alphanumeric()))
}

/// Weight of a word in a text: two for each time that it stands there, one where a longer word begins with it.
pub(crate) fn weight(text: &str, word: &str, most: usize) -> usize {
    let is_whole = |at: usize| {
        let rest = &text[at + word.len()..];
        !rest.strip_prefix('s').unwrap_or(rest).starts_with(|letter: char| letter.is_alphanumeric())
    };
    hits(text, word).take(most).map(|at| 1 + usize::from(is_whole(at))).sum()
}

/// A page that was found.
#[derive(Debug, Serialize)]
pub(crate) struct Found {
    pub(crate) address: String,
    /// HTML with the words marked.
    pub(crate) title: String,
    pub(crate) group: String,
    pub(crate) heading: String,
    pub(crate) excerpt: String,
}

/// The same before its texts are made: most are left out.
struct Hit<'a> {
    entry: &'a Entry,
    /// Part with the most words.
    best: usize,
    score: usize,
}

#[derive(Debug)]
struct Part {
    heading: Heading,
    text: String,
    lower_heading: String,
    lower: String,
}

#[derive(Debug)]
struct Entry {
    page: usize,
    lower_title: String,
    parts: Vec<Part>,
}

/// Texts of all pages.
#[derive(Debug)]
pub(crate) struct Index(Vec<Entry>);

impl Index {
    pub(crate) fn new(book: &Book) -> Self {
        let entry = |(page, it): (usize, &crate::book::Page)| {
            let parts = book.render(it).sections.into_iter().map(|section| {
                let text = section.text.split_whitespace().collect::<Vec<_>>().join(" ");
                let (lower_heading, lower) = (section.heading.text.to_ascii_lowercase(), text.to_ascii_lowercase());
                Part { heading: section.heading, text, lower_heading, lower }
            });
            Entry {
                page,
                lower_title: format!("{} {}", it.title, it.name).to_ascii_lowercase(),
                parts: parts.collect(),
            }
        };
        // The map has the words of all titles.
        Self(book.pages.iter().enumerate().skip(1).map(entry).collect())
    }

    /// Pages with all words, or else with some of them, the best first.
    pub(crate) fn find(&self, book: &Book, query: &Query) -> Vec<Found> {
        if query.is_empty() {
            return vec![];
        }
        let mut found: Vec<_> = self.0.iter().filter_map(|entry| entry.find(book, query, true)).collect();
        if found.is_empty() && query.words.len() > 1 {
            found = self.0.iter().filter_map(|entry| entry.find(book, query, false)).collect();
        }
        found.sort_by_key(|hit| usize::MAX - hit.score);
        found.into_iter().take(MOST_FOUND).filter_map(|hit| hit.show(book, query)).collect()
    }
}

impl Entry {
    fn find(&self, book: &Book, query: &Query, all: bool) -> Option<Hit<'_>> {
        let mut score = 0;
        let mut by_part = vec![0; self.parts.len()];
        for word in &query.words {
            let in_title = weight(&self.lower_title, word, 1);
            let mut in_text = 0;
            for (part, sum) in self.parts.iter().zip(&mut by_part) {
                let in_part = 10 * weight(&part.lower_heading, word, 1) + weight(&part.lower, word, MOST_HITS);
                *sum += in_part;
                in_text += in_part;
            }
            if all && in_title + in_text == 0 {
                return None;
            }
            score += 50 * in_title + in_text.min(80);
        }
        if score == 0 {
            return None;
        }
        let page = book.pages.get(self.page)?;
        // Records of why and what it costs come after what people look for.
        let score = if page.is_below { score / 3 } else { score };
        let best = by_part.iter().enumerate().max_by_key(|(at, sum)| (**sum, usize::MAX - at)).map_or(0, |(at, _)| at);
        Some(Hit { entry: self, best, score })
    }
}

impl Hit<'_> {
    fn show(&self, book: &Book, query: &Query) -> Option<Found> {
        let (page, part) = (book.pages.get(self.entry.page)?, self.entry.parts.get(self.best)?);
        let is_top = self.best == 0;
        Some(Found {
            address: if is_top { page.address.clone() } else { format!("{}#{}", page.address, part.heading.anchor) },
            title: query.mark(&page.title),
            group: page.group.and_then(|at| book.groups.get(at)).cloned().unwrap_or_default(),
            heading: if is_top { String::new() } else { query.mark(&part.heading.text) },
            excerpt: query.excerpt(&part.text),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::book::book;

    #[test]
    fn words_are_marked_where_they_begin() {
        let query = Query::new("Ban  ban <b>");
        assert_eq!(query.mark("A Ban, urban <ban>"), "A <mark>Ban</mark>, urban &lt;<mark>ban</mark>&gt;");
        let text = format!("{} é ban {}", "ä ".repeat(200), "ö ".repeat(400));
        let excerpt = query.excerpt(&text);
        assert!(excerpt.starts_with("… ") && excerpt.ends_with(" …") && excerpt.contains("<mark>ban</mark>"));
        assert!(Query::new(&"x y ".repeat(500)).words.len() <= MOST_WORDS);
        assert!(Query::new(" <>&/ ").is_empty());
        assert_eq!(Query::new("how to ban players").with_longest(2).words, ["players", "ban"]);
    }

    #[test]
    fn titles_come_before_texts() {
        let book = book();
        let index = Index::new(book);
        let first = |text: &str| index.find(book, &Query::new(text)).first().map(|found| found.address.clone());
        assert_eq!(first("webhooks").as_deref(), Some("/docs/operate/webhooks"));
        assert_eq!(first("waiting lines").as_deref(), Some("/docs/connectors/waiting-lines"));
        let banned = index.find(book, &Query::new("ban"));
        assert!(banned.iter().any(|found| found.address.starts_with("/docs/operate/moderation")), "{banned:#?}");
        let shows =
            |found: &Found| [&found.title, &found.heading, &found.excerpt].iter().any(|text| text.contains("<mark>"));
        assert!(banned.iter().all(shows), "{banned:#?}");
        assert!(index.find(book, &Query::new("qqqqq")).is_empty());
    }
}
