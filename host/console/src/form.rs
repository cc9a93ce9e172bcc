//! Forms of pages: their fields, and the JSON that they become.

use std::collections::HashMap;

use axum::http::StatusCode;
use serde_json::{Map, Value, json};

use crate::refusal::Refusal;

/// More fields than the largest form has: a group with all its nodes.
const MOST_FIELDS: usize = 15_000;

/// Fields of a submitted form, in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Form {
    fields: Vec<(String, String)>,
    /// Positions of each name's fields.
    at: HashMap<String, Vec<usize>>,
}

impl Form {
    /// Reads a form; none with too many fields.
    pub(crate) fn parse(body: &[u8]) -> Option<Self> {
        let fields: Vec<_> = form_urlencoded::parse(body).into_owned().take(MOST_FIELDS + 1).collect();
        (fields.len() <= MOST_FIELDS).then(|| Self::of(fields))
    }

    /// A form with these fields.
    pub(crate) fn of(fields: Vec<(String, String)>) -> Self {
        let mut at: HashMap<_, Vec<_>> = HashMap::new();
        for (position, (name, _)) in fields.iter().enumerate() {
            at.entry(name.clone()).or_default().push(position);
        }
        Self { fields, at }
    }

    /// First value of a field, without blanks around it; none if it is blank.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.exact(name).map(str::trim).filter(|value| !value.is_empty())
    }

    /// The value as it was typed.
    pub(crate) fn exact(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.at.get(name).into_iter().flatten().map(|at| self.fields[*at].1.as_str())
    }

    /// Fields whose names begin with this, without it.
    pub(crate) fn beginning<'a>(&'a self, prefix: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.fields.iter().filter_map(move |(name, value)| Some((name.strip_prefix(prefix)?, value.as_str())))
    }

    /// The fields for a template that shows the form again. Passwords are typed again.
    pub(crate) fn shown(&self) -> Value {
        let mut shown = Map::new();
        for (name, value) in self.fields.iter().filter(|(name, _)| !name.contains("password") && name != "csrf") {
            match shown.get_mut(name) {
                Some(Value::Array(values)) => values.push(json!(value)),
                Some(first) => *first = json!([first.clone(), value]),
                None => {
                    shown.insert(name.clone(), json!(value));
                }
            }
        }
        Value::Object(shown)
    }
}

/// Field of a form, and of the body that it becomes. A blank one is left out.
pub(crate) struct Field {
    name: &'static str,
    kind: Kind,
}

enum Kind {
    Text,
    Exact,
    Number,
    Flag,
    List,
    Lines,
    Choice,
    Json,
    Clear(&'static Field),
    Numbers,
}

impl Field {
    pub(crate) const fn text(name: &'static str) -> Self {
        Self { name, kind: Kind::Text }
    }

    /// A text whose blanks count, such as a password.
    pub(crate) const fn exact(name: &'static str) -> Self {
        Self { name, kind: Kind::Exact }
    }

    pub(crate) const fn number(name: &'static str) -> Self {
        Self { name, kind: Kind::Number }
    }

    /// A checkbox.
    pub(crate) const fn flag(name: &'static str) -> Self {
        Self { name, kind: Kind::Flag }
    }

    /// Checkboxes of one name.
    pub(crate) const fn list(name: &'static str) -> Self {
        Self { name, kind: Kind::List }
    }

    /// A list with commas or line ends between its values.
    pub(crate) const fn lines(name: &'static str) -> Self {
        Self { name, kind: Kind::Lines }
    }

    /// A choice of yes and no, or neither.
    pub(crate) const fn choice(name: &'static str) -> Self {
        Self { name, kind: Kind::Choice }
    }

    /// Any JSON.
    pub(crate) const fn json(name: &'static str) -> Self {
        Self { name, kind: Kind::Json }
    }

    /// An object of numbers, from the fields whose names begin with this and a dot.
    pub(crate) const fn numbers(name: &'static str) -> Self {
        Self { name, kind: Kind::Numbers }
    }

    /// The same, where a blank one is null.
    pub(crate) const fn or_null(field: &'static Self) -> Self {
        Self { name: field.name, kind: Kind::Clear(field) }
    }

    /// The value for the body, if there is one.
    pub(crate) fn value(&self, form: &Form) -> Option<Value> {
        match self.kind {
            Kind::Text => form.get(self.name).map(|value| json!(value)),
            Kind::Exact => form.exact(self.name).map(|value| json!(value)),
            // Not a number: the hub says so.
            Kind::Number => form.get(self.name).map(|value| number(value).unwrap_or_else(|| json!(value))),
            Kind::Choice => form.get(self.name).map(|value| json!(value == "true")),
            Kind::Json => form.get(self.name).map(|text| serde_json::from_str(text).unwrap_or_default()),
            Kind::Numbers => {
                let own = |name: &str| Some(name.strip_prefix(self.name)?.strip_prefix('.')?.to_owned());
                let typed = form.fields.iter().filter(|(_, value)| !value.trim().is_empty());
                let value = |text: &str| number(text.trim()).unwrap_or_else(|| json!(text));
                Some(Value::Object(typed.filter_map(|(name, text)| Some((own(name)?, value(text)))).collect()))
            }
            // A field that the form does not have is not cleared.
            Kind::Clear(field) => field.value(form).or_else(|| form.exact(self.name).map(|_| Value::Null)),
            Kind::Flag => Some(json!(form.get(self.name).is_some())),
            Kind::List => Some(json!(form.all(self.name).collect::<Vec<_>>())),
            Kind::Lines => form.get(self.name).map(|text| {
                let parts = text.split([',', '\n']).map(str::trim).filter(|part| !part.is_empty());
                json!(parts.collect::<Vec<_>>())
            }),
        }
    }

    /// Refuses what was typed as JSON and is none.
    fn check(&self, form: &Form) -> Result<(), Refusal> {
        let text = form.get(self.name).filter(|_| matches!(self.kind, Kind::Json));
        let Some(error) = text.and_then(|text| serde_json::from_str::<Value>(text).err()) else { return Ok(()) };
        let message = format!("{} is not JSON: {error}.", self.name);
        Err(Refusal::new("invalid_request", &message, StatusCode::BAD_REQUEST))
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }
}

/// A whole number, or one with decimals.
fn number(text: &str) -> Option<Value> {
    let whole = text.parse::<i64>().map(|it| json!(it));
    whole.ok().or_else(|| text.replace(',', ".").parse::<f64>().ok().map(|it| json!(it))).filter(Value::is_number)
}

/// Body of a request with these fields of a form.
pub(crate) fn body(fields: &[Field], form: &Form) -> Result<Value, Refusal> {
    for field in fields {
        field.check(form)?;
    }
    let values = fields.iter().filter_map(|field| field.value(form).map(|value| (field.name().to_owned(), value)));
    Ok(Value::Object(values.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_becomes_the_body_of_a_request() {
        static MAX: Field = Field::number("max");
        static ABSENT: Field = Field::number("absent");
        let form =
            Form::parse(b"name=+lobby+&scopes=plugin&scopes=agent&days=7&servers=a%2C+b%0Ac&blank=+&password=+x+&value=false&doc=%7B%7D&max=&min=0.5&limits.keys=5&limits.days=")
                .unwrap();
        let fields = [
            Field::text("name"),
            Field::text("blank"),
            Field::list("scopes"),
            Field::number("days"),
            Field::lines("servers"),
            Field::flag("ipBased"),
            Field::exact("password"),
            Field::choice("value"),
            Field::json("doc"),
            Field::or_null(&MAX),
            Field::or_null(&ABSENT),
            Field::number("min"),
            Field::numbers("limits"),
        ];
        let expected = json!({"name": "lobby", "scopes": ["plugin", "agent"], "days": 7, "servers": ["a", "b", "c"],
            "ipBased": false, "password": " x ", "value": false, "doc": {}, "max": null, "min": 0.5,
            "limits": {"keys": 5}});
        assert_eq!(body(&fields, &form).unwrap(), expected);
        assert!(body(&[Field::json("name")], &form).unwrap_err().message.contains("name is not JSON"));
        assert_eq!(form.shown()["scopes"], json!(["plugin", "agent"]));
        assert!(form.shown()["password"].is_null());
    }

    #[test]
    fn a_form_has_a_bounded_number_of_fields() {
        assert!(Form::parse("a&".repeat(MOST_FIELDS).as_bytes()).is_some());
        assert!(Form::parse("a&".repeat(MOST_FIELDS + 1).as_bytes()).is_none());
    }
}
