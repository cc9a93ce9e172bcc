//! Forms of pages: each is one request to a route of the hub.

use axum::http::{Method, StatusCode};
use axum::response::Response;
use serde_json::json;

use crate::answer;
use crate::form::{Field, body};
use crate::page::Page;
use crate::refusal::Refusal;
use crate::visit::{Visit, encode};

/// Target of a form.
pub(crate) struct Action {
    /// Address below `/console`.
    pub(crate) at: &'static str,
    pub(crate) verb: Verb,
    /// Route of the hub. Its parameters come from the address, or else from the form.
    pub(crate) route: &'static str,
    /// Fields of the form that become the body.
    pub(crate) fields: &'static [Field],
    /// Page that has the form: it shows a refusal, with all that was typed.
    pub(crate) page: &'static str,
    pub(crate) then: Then,
    /// Parameter of the address, or field, that the person has to type into `confirm`.
    pub(crate) confirm: Option<&'static str>,
}

/// Method of the route.
#[derive(Clone, Copy)]
pub(crate) enum Verb {
    Post,
    Patch,
    Delete,
}

/// Answer to a form that the hub accepted.
pub(crate) enum Then {
    /// Return to a page, which says this.
    Go(&'static str, &'static str),
    /// Show the answer on the page of the form: it has a secret, and is shown once.
    Show,
}

impl Action {
    /// A POST whose form is on `page`, to which the person returns.
    pub(crate) const fn post(
        at: &'static str,
        route: &'static str,
        fields: &'static [Field],
        page: &'static str,
        done: &'static str,
    ) -> Self {
        Self { at, verb: Verb::Post, route, fields, page, then: Then::Go(page, done), confirm: None }
    }

    pub(crate) const fn verb(self, verb: Verb) -> Self {
        Self { verb, ..self }
    }

    pub(crate) const fn go(self, page: &'static str, done: &'static str) -> Self {
        Self { then: Then::Go(page, done), ..self }
    }

    pub(crate) const fn show(self) -> Self {
        Self { then: Then::Show, ..self }
    }

    pub(crate) const fn confirm(self, parameter: &'static str) -> Self {
        Self { confirm: Some(parameter), ..self }
    }

    pub(crate) fn address(&self) -> String {
        format!("/console{}", self.at)
    }

    fn method(&self) -> Method {
        match self.verb {
            Verb::Post => Method::POST,
            Verb::Patch => Method::PATCH,
            Verb::Delete => Method::DELETE,
        }
    }

    pub(crate) async fn answer(&self, mut visit: Visit, pages: &[Page]) -> Response {
        if let Err(refusal) = visit.enter().await {
            return visit.refused(&refusal).await;
        }
        let done = match self.check(&visit) {
            Ok(()) => self.send(&mut visit).await,
            Err(refusal) => Err(refusal),
        };
        match (done, &self.then) {
            (Ok(()), Then::Go(page, done)) => {
                let address = visit.fill(&format!("/console{page}"), &[]);
                let mark = if address.contains('?') { '&' } else { '?' };
                answer::see_other(&format!("{address}{mark}done={}", encode(done)), &[])
            }
            (Ok(()), Then::Show) => self.again(visit, pages).await,
            (Err(refusal), _) if refusal.is_of_stranger() || refusal.code == "csrf_token_wrong" => {
                visit.refused(&refusal).await
            }
            (Err(refusal), _) => {
                visit.problem = Some(refusal);
                self.again(visit, pages).await
            }
        }
    }

    /// Checks again what the page checks.
    fn check(&self, visit: &Visit) -> Result<(), Refusal> {
        let Some(name) = self.confirm else { return Ok(()) };
        let expected = visit.params.get(name).map(String::as_str).or_else(|| visit.form.get(name));
        if visit.form.get("confirm") == expected && expected.is_some() {
            return Ok(());
        }
        let message = format!("Type {} to go on.", expected.unwrap_or_default());
        Err(Refusal::new("not_confirmed", &message, StatusCode::UNPROCESSABLE_ENTITY))
    }

    async fn send(&self, visit: &mut Visit) -> Result<(), Refusal> {
        let fields = body(self.fields, &visit.form);
        let has_body = !matches!(self.verb, Verb::Delete) && fields.as_object().is_some_and(|it| !it.is_empty());
        let answer = visit.send(self.method(), self.route, has_body.then_some(&fields)).await?;
        visit.result = json!({"action": self.at, "body": answer.body});
        Ok(())
    }

    /// The page of the form, with what was typed.
    async fn again(&self, visit: Visit, pages: &[Page]) -> Response {
        let Some(page) = pages.iter().find(|page| page.at == self.page) else {
            return visit.refused(&Refusal::not_found()).await;
        };
        match (page.load)(&visit).await {
            Ok(data) => visit.render(page.template, data),
            Err(refusal) => {
                let refusal = visit.problem.clone().unwrap_or(refusal);
                visit.refused(&refusal).await
            }
        }
    }
}
