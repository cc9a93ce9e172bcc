//! Blocks of code, with comments and texts in colours of their own.

use hub_console::look::escaped;

/// Beginning of a comment in a language, and quotes of its texts.
fn grammar(language: &str) -> Option<(&'static str, &'static [char])> {
    Some(match language {
        "sh" | "bash" | "shell" | "console" | "python" | "py" | "toml" | "yaml" | "yml" | "ini" => ("#", &['"', '\'']),
        "javascript" | "js" | "typescript" | "ts" => ("//", &['"', '\'', '`']),
        "rust" | "java" | "json" | "c" | "go" | "kotlin" | "wit" | "groovy" => ("//", &['"']),
        "sql" => ("--", &['\'']),
        _ => return None,
    })
}

/// A block that can be copied.
pub(crate) fn block(language: &str, text: &str) -> String {
    let text = text.trim_end_matches('\n');
    let marked = grammar(language).map_or_else(|| escaped(text), |grammar| marked(text, grammar));
    // A prompt is no part of the command.
    let copied: Vec<_> = text.lines().map(|line| line.strip_prefix("$ ").unwrap_or(line)).collect();
    let copied = escaped(&copied.join("\n"));
    format!(
        "<div class=\"code\"><button class=\"btn quiet s\" type=\"button\" data-copy=\"{copied}\">Copy</button>\
         <pre tabindex=\"0\"><code>{marked}</code></pre></div>\n"
    )
}

fn marked(text: &str, (comment, quotes): (&str, &[char])) -> String {
    let mut html = String::with_capacity(text.len() * 5 / 4);
    for (number, line) in text.lines().enumerate() {
        if number > 0 {
            html.push('\n');
        }
        mark_line(line, comment, quotes, &mut html);
    }
    html
}

fn mark_line(line: &str, comment: &str, quotes: &[char], html: &mut String) {
    let mut rest = line;
    let mut before = ' ';
    while let Some(letter) = rest.chars().next() {
        let begins_comment = rest.starts_with(comment) && !matches!(before, ':' | '$' | '{' | '&' | '/');
        // In a shell, # is a comment only behind a space.
        if begins_comment && (comment != "#" || before == ' ') {
            span("c", rest, html);
            return;
        }
        let length = if quotes.contains(&letter) { text_length(rest, letter) } else { None };
        let part = &rest[..length.unwrap_or_else(|| letter.len_utf8())];
        if length.is_some() {
            span("s", part, html);
        } else {
            html.push_str(&escaped(part));
        }
        before = letter;
        rest = &rest[part.len()..];
    }
}

/// Length of a text with its quotes; none if it does not end in this line.
fn text_length(text: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if letter == quote => return Some(at + letter.len_utf8()),
            _ => {}
        }
    }
    None
}

fn span(class: &str, text: &str, html: &mut String) {
    html.extend(["<span class=\"", class, "\">", &escaped(text), "</span>"]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(language: &str, text: &str) -> String {
        let block = block(language, text);
        let code = block.split("<code>").nth(1).unwrap().split("</code>").next().unwrap();
        code.to_owned()
    }

    #[test]
    fn comments_and_texts_are_marked() {
        assert_eq!(code("sh", "a # b\n"), "a <span class=\"c\"># b</span>");
        assert_eq!(code("sh", "a#b \"${c#d}\""), "a#b <span class=\"s\">&quot;${c#d}&quot;</span>");
        assert_eq!(
            code("rust", "f::<'a>(\"x\\\"y\"); // z"),
            "f::&lt;&#39;a&gt;(<span class=\"s\">&quot;x\\&quot;y&quot;</span>); <span class=\"c\">// z</span>"
        );
        assert_eq!(
            code("json", "{\"u\": \"http://x\"}"),
            "{<span class=\"s\">&quot;u&quot;</span>: <span class=\"s\">&quot;http://x&quot;</span>}"
        );
        assert_eq!(code("", "<# x>"), "&lt;# x&gt;");
    }

    #[test]
    fn prompts_are_not_copied() {
        assert!(block("", "$ hub demo\nok").contains("data-copy=\"hub demo\nok\""));
    }
}
