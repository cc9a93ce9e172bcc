//! The beginning, and addresses without a page.

use axum::response::Response;
use serde_json::json;

use crate::answer::see_other;
use crate::refusal::Refusal;
use crate::visit::{Visit, encode};

/// Leads people to their only network; those with several, or none, choose.
pub(crate) async fn open(mut visit: Visit) -> Response {
    if let Err(refusal) = visit.enter().await {
        return visit.refused(&refusal).await;
    }
    let networks = visit.me()["networks"].as_array().cloned().unwrap_or_default();
    let is_operator = visit.me()["operator"].as_bool().unwrap_or(false);
    match (&networks[..], is_operator) {
        ([network], false) => {
            see_other(&format!("/console/n/{}", encode(network["name"].as_str().unwrap_or_default())), &[])
        }
        ([], true) => see_other("/console/hub", &[]),
        _ => visit.render("home.html", json!({})),
    }
}

pub(crate) async fn unknown(visit: Visit) -> Response {
    visit.refused(&Refusal::not_found()).await
}
