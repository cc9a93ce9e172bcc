//! Every template is rendered, and every text has its translation.

use serde_json::{Value, json};

use hub_base::compute::compute_in_turn_of;
use hub_base::values::OPERATOR_NETWORK;

use super::*;

/// Renders a template in a turn.
fn render(language: &'static Language, name: &str, context: &Value) -> Result<String, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(compute_in_turn_of(OPERATOR_NETWORK, |turn| super::render(turn, language, name, context)))
}

/// A context with what all pages have.
fn sample(name: &str) -> Value {
    let samples: Value = serde_json::from_str(include_str!("../../files/samples.json")).unwrap();
    let mut context = samples["all"].clone();
    if let Value::Object(more) = &samples[name] {
        context.as_object_mut().unwrap().extend(more.clone());
    }
    context
}

fn pages() -> impl Iterator<Item = &'static str> {
    TEMPLATES.iter().map(|(name, _)| *name).filter(|name| !name.starts_with('_'))
}

#[test]
fn every_template_is_rendered_in_every_language() {
    for name in pages() {
        for language in Language::all() {
            for refused in [false, true] {
                let mut context = sample(name);
                if refused {
                    context["problem"] = json!({"status": 409, "code": "x", "message": "<b>m</b>", "requestId": "r"});
                }
                let page = render(language, name, &context).unwrap_or_else(|error| panic!("{name}: {error:#}"));
                assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"), "{name}");
                assert!(!page.contains("<b>m</b>"), "{name} does not escape");
                assert!(page.len() < 100_000, "{name} has {} bytes", page.len());
                for forbidden in ["<style", " style=", " onclick=", "javascript:", "<script>"] {
                    assert!(!page.contains(forbidden), "{name} has {forbidden}");
                }
                assert_eq!(page.matches("<form").count(), page.matches("</form>").count(), "{name}");
                for form in page.split("<form").skip(1) {
                    let form = form.split("</form>").next().unwrap();
                    let is_post = form.split('>').next().unwrap().contains("method=\"post\"");
                    let needs = is_post && !page.contains("class=\"door\"");
                    assert!(!needs || form.contains("name=\"csrf\""), "{name} has a form without a token: {form}");
                }
            }
        }
    }
}

#[test]
fn empty_pages_are_rendered() {
    let render = |name| render(&Language::all()[0], name, &sample("")).err().map(|error| format!("{name}: {error:#}"));
    let failed: Vec<_> = pages().filter_map(render).collect();
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn all_files_are_in_the_binary() {
    let folder = folder().unwrap().join("templates");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    assert_eq!(files, TEMPLATES.iter().map(|(name, _)| (*name).to_owned()).collect::<Vec<_>>());
}

#[test]
fn every_text_is_translated() {
    let german = &Language::all()[1];
    let mut missing = vec![];
    for (name, text) in TEMPLATES {
        for (at, _) in text.match_indices("t('") {
            let text_of_call = text[at + 3..].split('\'').next().unwrap();
            // Another function's name ends with this letter.
            let is_call = !text[..at].ends_with(|letter: char| letter.is_alphanumeric() || letter == '_');
            let text = text_of_call;
            if is_call && !german.translates(text) {
                missing.push(format!("{name}: {text}"));
            }
        }
    }
    assert!(missing.is_empty(), "without a translation: {missing:#?}");
}

#[test]
fn scripts_and_styles_stay_small() {
    let lines = |name: &str| std::fs::read_to_string(folder().unwrap().join("js").join(name)).unwrap().lines().count();
    let all = ["console.js", "keys.js", "live.js", "log.js", "staged.js", "swap.js", "times.js", "toast.js"];
    assert!(all.iter().map(|name| lines(name)).sum::<usize>() < 500);
}

#[test]
fn a_page_is_bounded_while_it_is_made() {
    let language = &Language::all()[0];
    let page = |bytes: usize| {
        let mut context = sample("error.html");
        // Each is worth six bytes.
        context["problem"] = json!({"status": 409, "code": "x", "message": "\"".repeat(bytes), "requestId": "r"});
        render(language, "error.html", &context)
    };
    assert!(page(1 << 20).unwrap().len() > 1 << 20);
    assert_eq!(page(MOST_BYTES).unwrap_err().kind(), ErrorKind::WriteFailure);
}
