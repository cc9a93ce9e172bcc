//! Markdown of a page as HTML, with what the navigation and the search need of it.

use std::borrow::Cow;
use std::collections::BTreeSet;

use hub_console::look::escaped;
use pulldown_cmark::{CodeBlockKind, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

use crate::code;

/// A heading with its anchor.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Heading {
    pub(crate) level: u8,
    pub(crate) anchor: String,
    pub(crate) text: String,
}

/// Text below a heading, without markup.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Section {
    pub(crate) heading: Heading,
    pub(crate) text: String,
}

/// A page as HTML and as text.
#[derive(Debug, Default)]
pub(crate) struct Rendered {
    pub(crate) html: String,
    /// The first has the title of the page, or is blank.
    pub(crate) sections: Vec<Section>,
    /// Text of the first paragraph.
    pub(crate) lead: String,
}

/// Destination of a link or a picture.
#[derive(Debug, PartialEq)]
pub(crate) enum Target {
    /// Address for the browser.
    Address(String),
    /// Path of a file of the repository that the book does not have.
    Outside(String),
}

/// Renders a page; `target` resolves the destinations of its links and pictures.
pub(crate) fn render(text: &str, target: impl Fn(&str) -> Target) -> Rendered {
    let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES | Options::ENABLE_STRIKETHROUGH;
    let mut page =
        Page { target, rendered: Rendered::default(), events: vec![], links: vec![], anchors: BTreeSet::new() };
    page.rendered.sections.push(Section::default());
    let mut events = Parser::new_ext(text, options);
    while let Some(event) = events.next() {
        page.add(event, &mut events);
    }
    html::push_html(&mut page.rendered.html, page.events.into_iter());
    // The policy of the pages forbids styles of elements.
    page.rendered.html = page.rendered.html.replace(r#" style="text-align: right""#, r#" class="num""#);
    page.rendered
}

/// A description as HTML. Its links are addresses.
pub(crate) fn prose(text: &str) -> String {
    let is_plain = !text.contains(['`', '*', '[', '\\', '<', '&', '_']) && !text.contains("\n\n");
    if is_plain {
        return if text.is_empty() { String::new() } else { format!("<p>{}</p>", escaped(text)) };
    }
    render(text, |destination| Target::Address(destination.to_owned())).html
}

struct Page<'a, F> {
    target: F,
    rendered: Rendered,
    events: Vec<Event<'a>>,
    /// Ends of the links that are open.
    links: Vec<&'static str>,
    anchors: BTreeSet<String>,
}

impl<'a, F: Fn(&str) -> Target> Page<'a, F> {
    fn html(&mut self, html: impl Into<CowStr<'a>>) {
        self.events.push(Event::InlineHtml(html.into()));
    }

    fn say(&mut self, text: &str) {
        if let Some(section) = self.rendered.sections.last_mut() {
            section.text.push_str(text);
        }
    }

    fn add(&mut self, event: Event<'a>, rest: &mut impl Iterator<Item = Event<'a>>) {
        match event {
            Event::Start(Tag::Heading { level, .. }) => self.add_heading(level, rest),
            Event::Start(Tag::CodeBlock(kind)) => self.add_code(&kind, rest),
            Event::Start(Tag::Image { dest_url, .. }) => self.add_picture(&dest_url, rest),
            Event::Start(Tag::Link { dest_url, .. }) => self.open_link(&dest_url),
            Event::End(TagEnd::Link) => {
                let end = self.links.pop().unwrap_or_default();
                self.html(end);
            }
            Event::Start(Tag::Table(columns)) => {
                self.html("<div class=\"wide\" tabindex=\"0\">");
                self.events.push(Event::Start(Tag::Table(columns)));
            }
            Event::End(TagEnd::Table) => {
                self.events.push(Event::End(TagEnd::Table));
                self.html("</div>");
            }
            // Notes for those who edit the page; other HTML is shown as it is written.
            Event::Html(text) | Event::InlineHtml(text) => {
                if !text.trim_start().starts_with("<!--") && !text.trim().is_empty() {
                    self.say(&text);
                    self.events.push(Event::Text(text));
                }
            }
            event => {
                match &event {
                    Event::Text(text) | Event::Code(text) => self.say(text),
                    Event::End(TagEnd::Paragraph) => {
                        self.say(" ");
                        let has_lead = !self.rendered.lead.is_empty();
                        if let (Some(section), false) = (self.rendered.sections.last(), has_lead) {
                            section.text.trim().clone_into(&mut self.rendered.lead);
                        }
                    }
                    Event::End(_) | Event::SoftBreak | Event::HardBreak => self.say(" "),
                    _ => {}
                }
                self.events.push(event);
            }
        }
    }

    fn add_heading(&mut self, level: HeadingLevel, rest: &mut impl Iterator<Item = Event<'a>>) {
        let inside: Vec<_> = rest.take_while(|event| !matches!(event, Event::End(TagEnd::Heading(_)))).collect();
        let text = text_of(&inside);
        let mut anchor = anchor(&text);
        let first = anchor.clone();
        // A second heading with the same text gets a number.
        for number in 1.. {
            if self.anchors.insert(anchor.clone()) {
                break;
            }
            anchor = format!("{first}-{number}");
        }
        self.html(format!("<{level} id=\"{}\">", escaped(&anchor)));
        for event in inside {
            self.add_quietly(event);
        }
        if level != HeadingLevel::H1 {
            let label = escaped(&format!("Link to “{text}”"));
            self.html(format!(" <a class=\"anchor\" href=\"#{}\" aria-label=\"{label}\">#</a>", escaped(&anchor)));
        }
        self.html(format!("</{level}>\n"));
        let heading = Heading { level: level as u8, anchor, text };
        match self.rendered.sections.last_mut() {
            Some(first) if level == HeadingLevel::H1 && first.heading.text.is_empty() => first.heading = heading,
            _ => self.rendered.sections.push(Section { heading, text: String::new() }),
        }
    }

    /// Adds a part of a heading, which is no text of the section before.
    fn add_quietly(&mut self, event: Event<'a>) {
        match event {
            Event::Start(Tag::Link { dest_url, .. }) => self.open_link(&dest_url),
            Event::End(TagEnd::Link) => {
                let end = self.links.pop().unwrap_or_default();
                self.html(end);
            }
            Event::Html(text) | Event::InlineHtml(text) => self.events.push(Event::Text(text)),
            event => self.events.push(event),
        }
    }

    fn add_code(&mut self, kind: &CodeBlockKind<'a>, rest: &mut impl Iterator<Item = Event<'a>>) {
        let inside: Vec<_> = rest.take_while(|event| !matches!(event, Event::End(TagEnd::CodeBlock))).collect();
        let text = text_of(&inside);
        let language = match kind {
            CodeBlockKind::Fenced(language) => language.split([',', ' ']).next().unwrap_or_default(),
            CodeBlockKind::Indented => "",
        };
        self.say(&text);
        self.say(" ");
        self.html(code::block(language, &text));
    }

    fn add_picture(&mut self, destination: &str, rest: &mut impl Iterator<Item = Event<'a>>) {
        let inside: Vec<_> = rest.take_while(|event| !matches!(event, Event::End(TagEnd::Image))).collect();
        let text = text_of(&inside);
        self.say(&text);
        let words = escaped(&text);
        match (self.target)(destination) {
            Target::Address(address) => {
                let address = escaped(&address);
                let picture = format!("<img src=\"{address}\" alt=\"{words}\" loading=\"lazy\">");
                let linked = format!("<a class=\"picture\" href=\"{address}\">{picture}</a>");
                self.html(if self.links.is_empty() { linked } else { picture });
            }
            Target::Outside(_) => self.html(words),
        }
    }

    fn open_link(&mut self, destination: &str) {
        let (start, end) = match (self.target)(destination) {
            Target::Address(address) => {
                let is_own = address.starts_with(['/', '#']);
                let more = if is_own { "" } else { " rel=\"noopener noreferrer\"" };
                (format!("<a href=\"{}\"{more}>", escaped(&address)), "</a>")
            }
            Target::Outside(path) => {
                let path = escaped(&path);
                (format!("<span class=\"outside\" title=\"In the repository: {path}\">"), "</span>")
            }
        };
        self.links.push(end);
        self.html(start);
    }
}

fn text_of(events: &[Event<'_>]) -> String {
    events.iter().fold(String::new(), |mut text, event| {
        match event {
            Event::Text(part) | Event::Code(part) | Event::Html(part) | Event::InlineHtml(part) => text.push_str(part),
            Event::SoftBreak | Event::HardBreak => text.push(' '),
            _ => {}
        }
        text
    })
}

/// Anchor of a heading, the same as on code hosts.
pub(crate) fn anchor(heading: &str) -> String {
    let kept = |letter: &char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | ' ');
    heading.trim().to_lowercase().chars().filter(kept).map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

/// A paragraph without markup.
pub(crate) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut paragraph = false;
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Paragraph) => paragraph = true,
            Event::End(TagEnd::Paragraph) => break,
            Event::Text(part) | Event::Code(part) if paragraph => plain.push_str(&part),
            Event::SoftBreak | Event::HardBreak if paragraph => plain.push(' '),
            _ => {}
        }
    }
    plain
}

/// Text up to the end of its first sentence.
pub(crate) fn first_sentence(text: &str) -> Cow<'_, str> {
    let end = text.match_indices(['.', ':']).map(|(at, _)| at).find(|at| {
        let rest = &text[at + 1..];
        rest.is_empty() || rest.starts_with(' ')
    });
    match end {
        Some(at) if text[at..].starts_with(':') => Cow::Owned(format!("{}.", &text[..at])),
        Some(at) => Cow::Borrowed(&text[..=at]),
        None => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(destination: &str) -> Target {
        match destination.strip_prefix("../../") {
            Some(path) => Target::Outside(path.to_owned()),
            None => Target::Address(destination.to_owned()),
        }
    }

    #[test]
    fn headings_have_the_anchors_of_code_hosts() {
        let page = render(
            "# The `hub`\n\nLead: one. Two.\n\n## A b, `c_d`!\n\nx\n\n## A b, `c_d`!\n\n### See [d](e.md)\n",
            target,
        );
        let anchors: Vec<_> = page.sections.iter().map(|section| section.heading.anchor.as_str()).collect();
        assert_eq!(anchors, ["the-hub", "a-b-c_d", "a-b-c_d-1", "see-d"]);
        assert!(page.html.contains("<h2 id=\"a-b-c_d-1\">"), "{}", page.html);
        assert_eq!(page.sections[0].heading.text, "The hub");
        assert_eq!(page.lead, "Lead: one. Two.");
        assert_eq!(first_sentence(&page.lead), "Lead.");
        assert_eq!(first_sentence("Version 1.1 is out. It…"), "Version 1.1 is out.");
    }

    #[test]
    fn links_lead_into_the_book_and_files_outside_are_named() {
        let html = render("[a](/b#c) [`x`](../../deploy/y) ![p \"q\"](z.png) [e](https://x.example/)", target).html;
        assert!(html.contains(r#"<a href="/b#c">a</a>"#), "{html}");
        assert!(html.contains(r#"<span class="outside" title="In the repository: deploy/y"><code>x</code></span>"#));
        assert!(html.contains(r#"alt="p &quot;q&quot;" loading="lazy">"#), "{html}");
        assert!(html.contains(r#"<a href="https://x.example/" rel="noopener noreferrer">e</a>"#), "{html}");
    }

    #[test]
    fn pages_bring_no_html_of_their_own() {
        let html = render("<!-- note -->\n\n<script>x()</script>\n\n| a |\n|--:|\n| <b>1</b> |\n", target).html;
        assert!(!html.contains("note") && !html.contains("<script") && !html.contains("<b>"), "{html}");
        assert!(html.contains("<td class=\"num\">") && !html.contains("style"), "{html}");
    }
}
