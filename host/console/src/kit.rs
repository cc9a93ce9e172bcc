//! Small shapes that all templates use.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use minijinja::value::Value;

use crate::drawing::{escaped, face};

/// Text of a value; none is blank.
fn text(value: &Value) -> String {
    if value.is_none() || value.is_undefined() { String::new() } else { escaped(&value.to_string()) }
}

fn drawn(name: &str) -> String {
    format!(r##"<svg class="icon" aria-hidden="true"><use href="#i-{name}"/></svg>"##)
}

/// An icon beside words.
pub(crate) fn icon(name: &str) -> Value {
    Value::from_safe_string(drawn(name))
}

/// A word in a tone, with or without an icon.
pub(crate) fn badge(word: &Value, tone: Option<&str>, icon: Option<&str>) -> Value {
    let (icon, tone, word) = (icon.map(drawn).unwrap_or_default(), tone.unwrap_or_default(), text(word));
    Value::from_safe_string(format!(r#"<span class="badge {tone}">{icon}{word}</span>"#))
}

/// A state: a word beside a dot.
pub(crate) fn state(word: &Value, tone: Option<&str>) -> Value {
    let (tone, word) = (tone.unwrap_or_default(), text(word));
    Value::from_safe_string(format!(r#"<span class="badge {tone}"><span class="dot {tone}"></span>{word}</span>"#))
}

/// A player by picture and name.
pub(crate) fn person(name: &Value, href: Option<&str>, sub: Option<&str>) -> Value {
    let picture = face(name, None);
    let name = format!("<bdi>{}</bdi>", text(name));
    let name = href.map_or(name.clone(), |href| format!(r#"<a href="{}">{name}</a>"#, escaped(href)));
    let sub = sub.map_or_else(String::new, |sub| format!("<small>{}</small>", escaped(sub)));
    Value::from_safe_string(format!(r#"<span class="name">{picture}<span>{name}{sub}</span></span>"#))
}

/// A number that no other form of this process has.
pub(crate) fn nonce() -> u64 {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    COUNT.fetch_add(1, Relaxed)
}
