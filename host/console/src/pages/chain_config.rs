//! The configuration of a module as fields, made from the schema of its manifest.

use serde_json::{Map, Value, json};

use crate::form::Form;

/// Schema of the configuration of a row's version; null if its manifest has none.
pub(super) fn schema_of<'a>(versions: &'a Map<String, Value>, row: &Value) -> &'a Value {
    let all = row["name"].as_str().and_then(|name| versions.get(name)).and_then(Value::as_array);
    let wanted = row["version"].as_i64().or_else(|| row["version"].as_str()?.parse().ok());
    let is_it = |version: &&Value| wanted.is_some() && version["version"].as_i64() == wanted;
    all.into_iter().flatten().find(is_it).map_or(&Value::Null, |version| &version["manifest"]["config"])
}

/// Gives a row a field for each simple setting of its schema; the JSON beside them has only the others.
pub(super) fn ask_settings(row: &mut Value, schema: &Value, typed: Option<(&Form, usize)>) {
    let mut config: Value = row["config"].as_str().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let mut settings = vec![];
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let kind = match property["type"].as_str() {
            Some("string") => "s",
            Some("integer" | "number") => "n",
            Some("boolean") => "b",
            _ => continue,
        };
        let value = match (typed, config.as_object_mut()) {
            (Some((form, at)), _) => json!(form.exact(&format!("set.{at}.{kind}.{name}")).unwrap_or_default()),
            (None, Some(config)) => match config.remove(name) {
                Some(Value::String(text)) => json!(text),
                Some(value) => json!(value.to_string()),
                None => json!(""),
            },
            (None, None) => json!(""),
        };
        let is_needed = schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
        settings.push(json!({
            "name": name, "kind": kind, "title": property["title"].as_str().unwrap_or(name), "value": value,
            "description": property["description"], "values": property["enum"], "needed": is_needed,
        }));
    }
    if typed.is_none() && !settings.is_empty() {
        row["config"] = json!(serde_json::to_string_pretty(&config).unwrap_or_default());
    }
    row["settings"] = json!(settings);
}

/// A configuration with what was typed into the fields of its settings.
pub(super) fn with_settings(mut config: Value, form: &Form, at: usize) -> Result<Value, String> {
    for (setting, text) in form.beginning(&format!("set.{at}.")) {
        let Some((kind, name)) = setting.split_once('.') else { continue };
        let text = text.trim();
        if text.is_empty() {
            continue;
        }
        let value = match kind {
            "n" => {
                serde_json::from_str::<serde_json::Number>(text).map_err(|_| format!("{name} must be a number"))?.into()
            }
            "b" => json!(text == "true"),
            _ => json!(text),
        };
        if let Some(config) = config.as_object_mut() {
            config.insert(name.to_owned(), value);
        }
    }
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_a_schema_are_fields_and_become_the_configuration() {
        let schema = json!({"required": ["kit"], "properties": {"kit": {"type": "string", "title": "Kit"}, "days": {"type": "integer"},
            "on": {"type": "boolean"}, "words": {"type": "array"}}});
        let mut row = json!({"config": r#"{"kit": "starter", "days": 3, "words": ["a"]}"#});
        ask_settings(&mut row, &schema, None);
        let shown =
            |name: &str| row["settings"].as_array().unwrap().iter().find(|it| it["name"] == name).unwrap().clone();
        assert_eq!(
            (&shown("kit")["value"], &shown("days")["value"], &shown("on")["value"]),
            (&json!("starter"), &json!("3"), &json!(""))
        );
        assert_eq!((&shown("kit")["title"], &shown("kit")["needed"]), (&json!("Kit"), &json!(true)));
        let rest: Value = serde_json::from_str(row["config"].as_str().unwrap()).unwrap();
        assert_eq!(rest, json!({"words": ["a"]}));
        let form = Form::parse(b"set.0.s.kit=gold&set.0.n.days=4&set.0.b.on=false&set.1.s.kit=other").unwrap();
        assert_eq!(
            with_settings(rest, &form, 0).unwrap(),
            json!({"words": ["a"], "kit": "gold", "days": 4, "on": false})
        );
        let form = Form::parse(b"set.0.n.days=many").unwrap();
        assert_eq!(with_settings(json!({}), &form, 0).unwrap_err(), "days must be a number");
        // Without a schema the JSON is all there is.
        let mut row = json!({"config": "{}"});
        ask_settings(&mut row, &Value::Null, None);
        assert_eq!((&row["config"], &row["settings"]), (&json!("{}"), &json!([])));
    }
}
