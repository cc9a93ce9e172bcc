//! Forms of pages: their fields, and the JSON that they become.

use serde_json::{Map, Value, json};

/// Fields of a submitted form, in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Form(Vec<(String, String)>);

impl Form {
    pub(crate) fn parse(body: &[u8]) -> Self {
        Self(form_urlencoded::parse(body).into_owned().collect())
    }

    /// First value of a field, without blanks around it; none if it is blank.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let value = self.0.iter().find(|(found, _)| found == name).map(|(_, value)| value.trim());
        value.filter(|value| !value.is_empty())
    }

    /// The value as it was typed.
    pub(crate) fn exact(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// The fields for a template that shows the form again. Passwords are typed again.
    pub(crate) fn shown(&self) -> Value {
        let mut shown = Map::new();
        for (name, value) in self.0.iter().filter(|(name, _)| !name.contains("password") && name != "csrf") {
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

    /// The value for the body, if there is one.
    pub(crate) fn value(&self, form: &Form) -> Option<Value> {
        match self.kind {
            Kind::Text => form.get(self.name).map(|value| json!(value)),
            Kind::Exact => form.exact(self.name).map(|value| json!(value)),
            // Not a number: the hub says so.
            Kind::Number => {
                form.get(self.name).map(|value| value.parse::<i64>().map_or_else(|_| json!(value), |it| json!(it)))
            }
            Kind::Flag => Some(json!(form.get(self.name).is_some())),
            Kind::List => Some(json!(form.all(self.name).collect::<Vec<_>>())),
            Kind::Lines => form.get(self.name).map(|text| {
                let parts = text.split([',', '\n']).map(str::trim).filter(|part| !part.is_empty());
                json!(parts.collect::<Vec<_>>())
            }),
        }
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }
}

/// Body of a request with these fields of a form.
pub(crate) fn body(fields: &[Field], form: &Form) -> Value {
    let values = fields.iter().filter_map(|field| field.value(form).map(|value| (field.name().to_owned(), value)));
    Value::Object(values.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_becomes_the_body_of_a_request() {
        let form =
            Form::parse(b"name=+lobby+&scopes=plugin&scopes=agent&days=7&servers=a%2C+b%0Ac&blank=+&password=+x+");
        let fields = [
            Field::text("name"),
            Field::text("blank"),
            Field::list("scopes"),
            Field::number("days"),
            Field::lines("servers"),
            Field::flag("ipBased"),
            Field::exact("password"),
        ];
        let expected = json!({"name": "lobby", "scopes": ["plugin", "agent"], "days": 7, "servers": ["a", "b", "c"],
            "ipBased": false, "password": " x "});
        assert_eq!(body(&fields, &form), expected);
        assert_eq!(form.shown()["scopes"], json!(["plugin", "agent"]));
        assert!(form.shown()["password"].is_null());
    }
}
