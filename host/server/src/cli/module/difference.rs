//! Differences of two JSON values.

use hub_sandbox::test_case::one_line;
use serde_json::Value;

/// Returns two lines for each difference.
pub(super) fn differences(expected: &Value, got: &Value) -> Vec<String> {
    let mut found = vec![];
    compare("", expected, got, &mut found);
    found
}

fn compare(path: &str, expected: &Value, got: &Value, found: &mut Vec<String>) {
    match (expected, got) {
        (Value::Object(wanted), Value::Object(given)) if wanted.keys().eq(given.keys()) => {
            for (key, wanted) in wanted {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                compare(&path, wanted, &given[key], found);
            }
        }
        (Value::Array(wanted), Value::Array(given))
            if wanted.len() == given.len() && wanted.iter().any(Value::is_object) =>
        {
            for (at, (wanted, given)) in wanted.iter().zip(given).enumerate() {
                compare(&format!("{path}[{at}]"), wanted, given, found);
            }
        }
        _ if expected == got => {}
        _ => {
            let path = if path.is_empty() { "answer" } else { path };
            found.push(format!("{path}: expected {}", one_line(expected)));
            found.push(format!("{:width$}  got      {}", "", one_line(got), width = path.chars().count()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_differs_is_named() {
        let expected =
            json!({"decision": {"amend": {"type": "BAN", "reason": "a"}}, "followUps": [{"a": 1}, {"a": 2}]});
        let got = json!({"decision": {"amend": {"type": "BAN", "reason": "b"}}, "followUps": [{"a": 1}, {"a": 3}]});
        let found = differences(&expected, &got);
        assert_eq!(found[0], r#"decision.amend.reason: expected "a""#);
        assert_eq!(found[1].trim_start(), r#"got      "b""#);
        assert_eq!(found[2], "followUps[1].a: expected 2");
        assert_eq!(found.len(), 4);
        assert!(differences(&expected, &expected).is_empty());
        assert_eq!(differences(&json!({"order": [1, 0]}), &json!({"failure": "trap"})).len(), 2);
        assert_eq!(differences(&json!({"order": [1, 0]}), &json!({"order": [0, 1]})).len(), 2);
    }
}
