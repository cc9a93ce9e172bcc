//! Common parts of all routes: extractors, forms of errors and lists, request ids, and the API documentation.

pub(crate) mod answer;
pub(crate) mod client_address;
pub mod connection;
pub(crate) mod cookie;
pub mod document;
pub mod error;
pub mod error_code;
pub(crate) mod error_status;
mod examples;
pub mod extract;
mod field_examples;
pub(crate) mod hub_url;
pub(crate) mod json;
pub(crate) mod layers;
pub(crate) mod openapi;
pub(crate) mod page;
mod parameters;
pub(crate) mod publication;
pub(crate) mod rate_limit;
pub(crate) mod reference;
mod request_body;
pub mod request_id;
pub(crate) mod request_record;
mod sent_fields;
