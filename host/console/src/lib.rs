//! The console: web pages for people, at `/console`.
//!
//! Invariants: a page reads and changes nothing but by the hub's own routes, as the session of the person who opened it,
//! so its permissions, limits, audit and errors are theirs; every form works without scripts; no page has a script or a
//! style of its own.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]
#![allow(missing_docs, reason = "a part of the hub, not a library for others: what says itself needs no comment")]

mod action;
mod answer;
mod assets;
mod compress;
mod door;
mod drawing;
mod folder;
mod form;
mod kit;
mod language;
mod live;
pub mod look;
mod multipart;
mod page;
mod pages;
mod pending;
mod policy;
mod refusal;
mod templates;
mod upload;
mod visit;

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::Redirect;
use axum::routing::{get, post};

use hub_core::app::App;

use crate::door::Door;
use crate::visit::Visit;

/// Parts that all pages share.
#[derive(Clone)]
pub(crate) struct Console {
    pub(crate) app: App,
    pub(crate) door: Door,
}

/// Routes of the console. `api` serves the hub's own routes, with all layers around them.
pub fn router(app: &App, api: Router) -> Router {
    let console = Console { app: app.clone(), door: Door::new(api) };
    let mut router = Router::new()
        .route("/console", get(pages::home::open))
        .route("/console/", get(async || Redirect::permanent("/console")))
        .route("/console/assets/{version}/{*file}", get(assets::serve))
        .route("/console/n/{network}/live", get(live::stream))
        .route("/console/n/{network}/servers/{serverId}/log", get(live::log))
        .route("/console/{*rest}", get(pages::home::unknown).post(pages::home::unknown));
    for page in pages::all() {
        router = router.route(&page.address(), get(move |visit: Visit| page.answer(visit)));
    }
    for action in pages::actions() {
        router = router.route(&action.address(), post(move |visit: Visit| action.answer(visit, pages::at)));
    }
    router
        .merge(pages::doors::router())
        .merge(pages::activation::router())
        .merge(pages::artifacts::router())
        .merge(pages::chain::router())
        .merge(pages::downloads::router())
        .merge(pages::permissions::router())
        .merge(pages::imports::router())
        .merge(pages::modules::router())
        .merge(pages::undo::router())
        .layer(from_fn_with_state(console.clone(), policy::own_origin))
        .layer(from_fn(policy::headers))
        .layer(from_fn(answer::render))
        .with_state(console)
}
