//! Kinds of changes that can be undone from the audit log.

use axum::http::Method;
use serde_json::{Map, Value};

/// A kind of change whose inverse is a request to a route of its component.
#[derive(Debug)]
pub struct Undo {
    /// Action of its entries.
    pub action: &'static str,
    /// Parameters of the routes that an entry's target is, separated by slashes.
    pub target: &'static [&'static str],
    /// Fields of the value, and of the body. A value that is no object is the only one.
    pub fields: &'static [&'static str],
    /// Route that changes the value: a PATCH takes some of the fields, a PUT all of them.
    pub route: &'static str,
    pub changes: UndoBy,
    /// True if a DELETE of the route undoes that it was made.
    pub deletes: bool,
    pub now: Now,
}

/// Method of the route that changes a value back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndoBy {
    Put,
    Patch,
}

/// Way to read a value as it is now, with its revision.
#[derive(Debug)]
pub struct Now {
    /// Route of the value, or of a page of such.
    pub route: &'static str,
    /// Field of the page's items, and the parameter that it is.
    pub among: Option<(&'static str, &'static str)>,
    /// Field of the answer that is the value, if the value is no object.
    pub value: Option<&'static str>,
}

impl Now {
    /// The route answers the value.
    pub const fn alone(route: &'static str) -> Self {
        Self { route, among: None, value: None }
    }

    /// The route answers a page, one of whose items has this parameter in this field.
    pub const fn among(route: &'static str, field: &'static str, parameter: &'static str) -> Self {
        Self { route, among: Some((field, parameter)), value: None }
    }
}

impl Undo {
    /// The inverse of an entry with these values; none if there is none.
    pub fn inverse(&self, before: &Value, after: &Value) -> Option<Inverse> {
        // The log has no token of a URL, so that the one before is not known.
        let is_known = before["url"] == after["url"];
        let method = match (before, self.changes) {
            (Value::Null, _) => self.deletes.then_some(Method::DELETE)?,
            (_, UndoBy::Put) => Method::PUT,
            (_, UndoBy::Patch) => Method::PATCH,
        };
        let (before, after) = (self.values(before)?, self.values(after)?);
        (is_known && before != after).then_some(Inverse { method, before, after })
    }

    /// Fields of a value of the log; none if it is too large for the log, or is of another kind.
    fn values(&self, value: &Value) -> Option<Map<String, Value>> {
        match value {
            Value::Null => Some(Map::new()),
            Value::Object(all) => {
                let own = self.fields.iter().filter_map(|name| Some(((*name).to_owned(), all.get(*name)?.clone())));
                let own: Map<_, _> = own.collect();
                (!own.is_empty()).then_some(own)
            }
            _ => Some([((*self.fields.first()?).to_owned(), value.clone())].into_iter().collect()),
        }
    }
}

/// The inverse of one change.
#[derive(Debug)]
pub struct Inverse {
    pub method: Method,
    pub before: Map<String, Value>,
    pub after: Map<String, Value>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const fn kind(fields: &'static [&'static str], changes: UndoBy, deletes: bool) -> Undo {
        let now = Now::alone("/x");
        Undo { action: "x.put", target: &["x"], fields, route: "/x", changes, deletes, now }
    }

    #[test]
    fn only_what_has_an_inverse_can_be_undone() {
        let bounds = kind(&["minimum"], UndoBy::Put, false);
        let inverse = bounds.inverse(&json!({"minimum": 0, "more": 1}), &json!({"minimum": 5, "more": 2})).unwrap();
        assert_eq!((inverse.method, inverse.before["minimum"].clone()), (Method::PUT, json!(0)));
        assert!(bounds.inverse(&Value::Null, &json!({"minimum": 5})).is_none(), "no route deletes it");
        assert!(bounds.inverse(&json!({"plan": "a"}), &json!({"plan": "b"})).is_none(), "a field of somebody else");
        assert!(bounds.inverse(&json!({"omittedBytes": 5000}), &json!({"minimum": 5})).is_none());
        let text = kind(&["value"], UndoBy::Put, true);
        assert_eq!(text.inverse(&Value::Null, &json!("Hello")).unwrap().method, Method::DELETE);
        assert_eq!(text.inverse(&json!("Hello"), &Value::Null).unwrap().method, Method::PUT);
        let named = kind(&["name"], UndoBy::Patch, false);
        let of = |name: &str, url: &str| json!({"name": name, "url": url});
        assert!(named.inverse(&of("a", "https://a"), &of("b", "https://a")).is_some());
        assert!(named.inverse(&of("a", "https://a"), &of("b", "https://b")).is_none(), "half of a change");
    }
}
