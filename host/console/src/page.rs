//! Pages: what each reads of the hub, and the template that shows it.

use axum::response::Response;
use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::refusal::Refusal;
use crate::visit::Visit;

/// Reads what a page shows.
pub(crate) type Load = fn(&Visit) -> BoxFuture<'_, Result<Value, Refusal>>;

/// A page of signed-in people.
pub(crate) struct Page {
    /// Address below `/console`. Its parameters have the names of the hub's routes.
    pub(crate) at: &'static str,
    pub(crate) template: &'static str,
    pub(crate) load: Load,
}

/// `page!("/n/{network}/servers", "servers.html", servers::list)`.
macro_rules! page {
    ($at:literal, $template:literal, $load:path) => {
        crate::page::Page { at: $at, template: $template, load: |visit| Box::pin($load(visit)) }
    };
}
pub(crate) use page;

impl Page {
    pub(crate) fn address(&self) -> String {
        format!("/console{}", self.at)
    }

    pub(crate) async fn answer(&self, mut visit: Visit) -> Response {
        let data = match visit.enter().await {
            Ok(()) => {
                visit.count().await;
                (self.load)(&visit).await
            }
            Err(refusal) => Err(refusal),
        };
        match data {
            Ok(data) => visit.render(self.template, data),
            Err(refusal) => visit.refused(&refusal).await,
        }
    }
}
