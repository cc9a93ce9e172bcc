//! The reference of the API: every operation of the OpenAPI document as a page.

pub(crate) mod document;
mod fields;
mod samples;

use std::sync::OnceLock;

use serde_json::Value;

use crate::reference::document::Api;

/// The reference, made when somebody opens it.
#[derive(Debug)]
pub(crate) struct Reference {
    document: fn() -> Value,
    api: OnceLock<Api>,
}

impl Reference {
    pub(crate) fn new(document: fn() -> Value) -> Self {
        Self { document, api: OnceLock::new() }
    }

    pub(crate) fn get(&self) -> &Api {
        self.api.get_or_init(|| Api::new(&(self.document)()))
    }
}
