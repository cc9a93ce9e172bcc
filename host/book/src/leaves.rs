//! Templates of the book, on the console's shapes.

use std::sync::LazyLock;

use minijinja::{Environment, Error};
use serde_json::Value;

use crate::{files, styles};

macro_rules! templates {
    ($($name:literal),+ $(,)?) => {
        /// Templates by name.
        const TEMPLATES: &[(&str, &str)] = &[$(($name, include_str!(concat!("../files/templates/", $name)))),+];
    };
}

templates![
    "_book.html",
    "_fields.html",
    "_try.html",
    "missing.html",
    "operation.html",
    "page.html",
    "reference.html",
    "search.html"
];

/// Shown where a page cannot be rendered.
const FAILED: &str = "<!doctype html><title>Error</title><p>The hub failed to make this page; the operator finds the cause in its log.</p>";

fn environment() -> Result<Environment<'static>, Error> {
    let mut environment = hub_console::look::environment();
    environment.add_function("book_asset", styles::address);
    environment.add_global("version", env!("CARGO_PKG_VERSION"));
    for (name, text) in TEMPLATES {
        let text = files::edited(&format!("templates/{name}"), text);
        environment.add_template_owned(*name, text)?;
    }
    Ok(environment)
}

/// Renders a template.
pub(crate) fn render(name: &str, context: &Value) -> String {
    static ENVIRONMENT: LazyLock<Result<Environment<'static>, Error>> = LazyLock::new(environment);
    let rendered = match &*ENVIRONMENT {
        Ok(environment) => environment.get_template(name).and_then(|template| template.render(context)),
        Err(error) => {
            tracing::error!(error = format!("{error:#}"), "the templates of the book are invalid");
            return FAILED.to_owned();
        }
    };
    rendered.unwrap_or_else(|error| {
        tracing::error!(template = name, error = format!("{error:#}"), "a page of the book could not be rendered");
        FAILED.to_owned()
    })
}
