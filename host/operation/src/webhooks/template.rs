//! Texts with placeholders, such as `{punishment.playerName}`, and their substitution.

use std::fmt::{self, Write};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::budget::Budget;

/// Maximum size of all templates of a webhook, in bytes of JSON.
pub(super) const LONGEST_TEMPLATES: usize = 32 * 1_024;
const MAX_EMBEDS: usize = 10;
const MAX_FIELDS: usize = 25;
const MAX_COLOR: u32 = 0xff_ff_ff;
/// Suffix of a placeholder whose number is shown as a time.
const TIME: &str = ":time";

/// A message in Discord. `{name}` in its texts is replaced by a field of the event, `{punishment.reason}` by a field of
/// an object in it, and `{at:time}` by a time in each reader's own time zone; `{{` and `}}` are braces.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
#[schema(as = WebhookTemplate)]
pub(super) struct Template {
    /// Text; cut to 2,000 characters.
    #[schema(example = "**{playerName}**: {message}")]
    pub(super) content: Option<String>,
    /// Embeds below the text, at most 10.
    #[schema(max_items = 10)]
    pub(super) embeds: Vec<Embed>,
}

/// An embed of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
#[schema(as = WebhookEmbed)]
pub(super) struct Embed {
    /// Cut to 256 characters.
    #[schema(example = "{punishment.playerName} was punished")]
    pub(super) title: Option<String>,
    /// Cut to 4,096 characters.
    #[schema(example = "{punishment.reason}")]
    pub(super) description: Option<String>,
    /// Red, green and blue as one number.
    #[schema(maximum = 16_777_215, example = 15_158_332)]
    pub(super) color: Option<u32>,
    /// Fields, at most 25.
    #[schema(max_items = 25)]
    pub(super) fields: Vec<Field>,
}

/// A field of an embed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebhookEmbedField)]
pub(super) struct Field {
    /// Cut to 256 characters.
    #[schema(example = "Until")]
    pub(super) name: String,
    /// Cut to 1,024 characters.
    #[schema(example = "{punishment.expiresAt:time}")]
    pub(super) value: String,
    /// True if it may be beside other fields.
    #[serde(default)]
    pub(super) inline: bool,
}

impl Template {
    /// Template with only a text.
    pub(super) fn text(content: &str) -> Self {
        Self { content: Some(content.to_owned()), embeds: vec![] }
    }

    /// Checks the template; the error is the reason against it.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.content.is_none() && self.embeds.is_empty() {
            return Err("needs `content` or `embeds`".to_owned());
        }
        if self.embeds.len() > MAX_EMBEDS {
            return Err(format!("has more than {MAX_EMBEDS} embeds"));
        }
        let mut texts: Vec<_> = self.content.iter().collect();
        for embed in &self.embeds {
            if embed.title.is_none() && embed.description.is_none() && embed.fields.is_empty() {
                return Err("has an embed without title, description and fields".to_owned());
            }
            if embed.fields.len() > MAX_FIELDS {
                return Err(format!("has an embed with more than {MAX_FIELDS} fields"));
            }
            if embed.color.is_some_and(|color| color > MAX_COLOR) {
                return Err(format!("has a color above {MAX_COLOR}"));
            }
            texts.extend(embed.title.iter().chain(&embed.description));
            texts.extend(embed.fields.iter().flat_map(|field| [&field.name, &field.value]));
        }
        texts.into_iter().try_for_each(|text| parts(text).map(|_| ()))
    }
}

enum Part<'t> {
    Text(&'t str),
    Placeholder(&'t str),
}

/// Splits a text into its parts; the error describes its unbalanced braces.
fn parts(mut text: &str) -> Result<Vec<Part<'_>>, String> {
    let mut parts = vec![];
    while let Some(at) = text.find(['{', '}']) {
        parts.push(Part::Text(&text[..at]));
        let rest = &text[at..];
        text = if rest.starts_with("{{") || rest.starts_with("}}") {
            parts.push(Part::Text(&rest[..1]));
            &rest[2..]
        } else if let Some((name, after)) = rest.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
            let path = name.strip_suffix(TIME).unwrap_or(name);
            if path.is_empty() || !path.chars().all(|it| it.is_ascii_alphanumeric() || matches!(it, '.' | '_')) {
                return Err(format!("has a placeholder `{{{name}}}` that is not a field's name"));
            }
            parts.push(Part::Placeholder(name));
            after
        } else {
            return Err("has an unpaired brace; write {{ or }} for the character".to_owned());
        };
    }
    parts.push(Part::Text(text));
    Ok(parts)
}

/// Replaces placeholders by the event's values, or by nothing if there is none. The result has at most `most` of
/// Discord's characters, the last one an ellipsis if there were more: a text of a few placeholders may be worth hundreds
/// of megabytes. Every character is drawn from the turn; a text ends where that does.
pub(super) fn fill(turn: &Budget, text: &str, event: &Value, most: usize) -> String {
    let mut filled = Filled { turn, text: String::new(), length: 0, most };
    // It was checked when it was stored.
    let parts = parts(text).unwrap_or_else(|_| vec![Part::Text(text)]);
    let is_whole = parts.into_iter().all(|part| {
        let added = match part {
            Part::Text(text) => filled.write_str(text),
            Part::Placeholder(name) => write_value(&mut filled, name, event),
        };
        added.is_ok()
    });
    filled.end(is_whole)
}

/// Length in Discord's characters, which are UTF-16's.
pub(super) fn length(text: &str) -> usize {
    text.encode_utf16().count()
}

/// A text that refuses what goes beyond its length.
struct Filled<'t> {
    turn: &'t Budget,
    text: String,
    length: usize,
    most: usize,
}

impl Write for Filled<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.chars().try_for_each(|character| self.write_char(character))
    }

    fn write_char(&mut self, character: char) -> fmt::Result {
        let length = self.length + character.len_utf16();
        if length > self.most {
            return Err(fmt::Error);
        }
        self.turn.bytes(character.len_utf8() as u64).map_err(|_| fmt::Error)?;
        self.length = length;
        self.text.push(character);
        Ok(())
    }
}

impl Filled<'_> {
    fn end(mut self, is_whole: bool) -> String {
        if is_whole {
            return self.text;
        }
        while self.length >= self.most
            && let Some(last) = self.text.pop()
        {
            self.length -= last.len_utf16();
        }
        // An escape that lost its character would escape the ellipsis.
        while self.text.ends_with('\\') {
            self.text.pop();
        }
        if self.most > 0 {
            self.text.push('…');
        }
        self.text
    }
}

fn write_value(filled: &mut Filled<'_>, name: &str, event: &Value) -> fmt::Result {
    let path = name.strip_suffix(TIME).unwrap_or(name);
    let found = path.split('.').try_fold(event, |object, field| object.get(field));
    match found {
        None | Some(Value::Null) => Ok(()),
        Some(Value::Number(millis)) if name != path => match millis.as_i64() {
            Some(millis) => write!(filled, "<t:{}:f>", millis.div_euclid(1_000)),
            None => Ok(()),
        },
        Some(Value::String(text)) => Escaped(filled).write_str(text),
        Some(other) => write!(Escaped(filled), "{other}"),
    }
}

/// Escapes players' texts, so that they have no bold, links, mentions or invitations such as `discord.gg/x`.
struct Escaped<'f, 't>(&'f mut Filled<'t>);

impl Write for Escaped<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.chars().try_for_each(|character| {
            if matches!(
                character,
                '\\' | '*' | '_' | '~' | '`' | '|' | '>' | '<' | '[' | ']' | '(' | ')' | '#' | '@' | ':' | '-' | '/'
            ) {
                self.0.write_char('\\')?;
            }
            self.0.write_char(character)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;
    use crate::budget::Allowance;

    fn turn(bytes: u64) -> Budget {
        Budget::begin_on_thread(Allowance { bytes, steps: 0, memory: 0, time: Duration::from_secs(600) })
    }

    fn fill(text: &str, event: &Value) -> String {
        super::fill(&turn(1 << 20), text, event, 1_000)
    }

    #[test]
    fn placeholders_are_filled_and_escaped() {
        let event = json!({"playerName": "_Al*ex_", "message": "@everyone <@1> [x](https://e.vil) discord.gg/x", "at": 1_804_680_000_999_i64,
            "punishment": {"reason": null, "id": 7, "active": true}});
        assert_eq!(fill("{playerName} {{x}}", &event), "\\_Al\\*ex\\_ {x}");
        assert_eq!(fill("{message}", &event), "\\@everyone \\<\\@1\\> \\[x\\]\\(https\\:\\/\\/e.vil\\) discord.gg\\/x");
        assert_eq!(fill("{at:time} {at}", &event), "<t:1804680000:f> 1804680000999");
        assert_eq!(
            fill("{punishment.id} {punishment.reason}|{nothing.at.all}|{punishment.active}", &event),
            "7 ||true"
        );
        assert_eq!(fill("**{playerName:time}**", &event), "**\\_Al\\*ex\\_**");
    }

    #[test]
    fn texts_are_cut_while_they_are_filled() {
        let filled = |text: &str, most| {
            super::fill(&turn(1 << 20), text, &json!({"all": {"a": vec!["x"; 50_000]}, "x": "*_"}), most)
        };
        let cut = filled(&"{all}".repeat(6_000), 2_000);
        assert_eq!((length(&cut), cut.ends_with('…')), (2_000, true));
        assert_eq!((filled("ab", 2), filled("abc", 2)), ("ab".to_owned(), "a…".to_owned()));
        assert_eq!((filled("{x}", 4), filled("{x}{x}", 5)), ("\\*\\_".to_owned(), "\\*\\_…".to_owned()));
        assert_eq!((filled("a{x}", 3), filled("a", 0)), ("a…".to_owned(), String::new()));
        assert_eq!(filled("\u{1f3f0}\u{1f3f0}", 3), "\u{1f3f0}…");
        // Also by the end of the turn.
        assert_eq!(super::fill(&turn(3), "abcdef", &json!({}), 2_000), "abc…");
    }

    #[test]
    fn wrong_templates_are_refused() {
        for wrong in ["{", "}", "a } b", "{a b}", "{}", "{a", "{:time}", "{$x}"] {
            assert!(Template::text(wrong).check().is_err(), "{wrong}");
        }
        for good in ["", "x", "{{}}", "{a.b:time} {c}"] {
            assert!(Template::text(good).check().is_ok(), "{good}");
        }
        assert!(Template::default().check().is_err());
        let embed = Embed { title: Some("t".to_owned()), ..Embed::default() };
        let with = |embeds: Vec<Embed>| Template { content: None, embeds }.check();
        assert!(with(vec![embed.clone(); 10]).is_ok() && with(vec![embed.clone(); 11]).is_err());
        assert!(with(vec![Embed::default()]).is_err());
        assert!(with(vec![Embed { color: Some(MAX_COLOR + 1), ..embed.clone() }]).is_err());
        let field = Field { name: "{".to_owned(), value: "v".to_owned(), inline: false };
        assert!(with(vec![Embed { fields: vec![field], ..embed }]).is_err());
    }
}
