//! The book: the pages of `docs/` at `/docs`, for readers and for machines, and the reference of the API at `/docs/api`.
//!
//! Invariants: nothing but files below `docs/` is served; no page reads the database or depends on its reader, so each is
//! rendered once; no page has a script or a style of its own.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]
#![allow(missing_docs, reason = "a part of the hub, not a library for others: what says itself needs no comment")]

mod book;
mod code;
mod content;
mod contents;
mod files;
mod leaves;
mod machines;
mod markdown;
mod operations;
mod reference;
mod routes;
mod search;
mod shared;
mod styles;

pub use crate::routes::router;
