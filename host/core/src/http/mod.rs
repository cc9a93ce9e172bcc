//! Common parts of all routes: extractors, forms of errors and lists, request ids, and the API documentation.

pub mod answer;
pub mod client_address;
pub mod connection;
pub mod cookie;
pub mod document;
pub mod documents;
pub mod error;
pub mod error_code;
mod examples;
pub mod extract;
mod field_examples;
pub mod hub_url;
pub mod if_match;
pub mod json;
pub mod layers;
pub mod openapi;
pub mod overlap;
pub mod own_routes;
pub mod page;
mod parameters;
pub mod private_answers;
pub mod publication;
pub(crate) mod rate_limit;
mod request_body;
pub mod request_id;
pub(crate) mod request_record;
mod sent_fields;
