//! Forms with a file: each is one upload to a route of the hub.

use axum::extract::Request;
use axum::response::Response;

use crate::answer::see_other;
use crate::form::Form;
use crate::page::Page;
use crate::refusal::Refusal;
use crate::visit::Visit;
use crate::{Console, multipart};

/// Target of a form with a file.
pub(crate) struct Upload {
    pub(crate) route: &'static str,
    /// Parameters of the route, from the fields of the form.
    pub(crate) query: fn(&Form) -> Vec<(&'static str, String)>,
    /// Page that has the form: it shows a refusal, with all that was typed.
    pub(crate) page: &'static Page,
    /// Page to which an accepted file leads, with this word, and its parameter: a field of the answer.
    pub(crate) then: (&'static str, &'static str),
}

impl Upload {
    pub(crate) async fn answer(&self, console: Console, request: Request) -> Response {
        let (mut parts, body) = request.into_parts();
        let mut visit = Visit::opened(&mut parts, &console).await;
        if let Err(refusal) = visit.enter().await {
            return visit.refused(&refusal).await;
        }
        let sent = match multipart::read(&parts, body).await {
            Ok((form, file)) => {
                visit.form = form;
                let query = (self.query)(&visit.form);
                let query: Vec<_> = query.iter().map(|(name, value)| (*name, value.as_str())).collect();
                visit.upload(self.route, &query, file).await
            }
            Err(refusal) => Err(refusal),
        };
        match sent {
            Ok(answer) => {
                let (page, parameter) = self.then;
                let value = answer.body[parameter].as_str().unwrap_or_default().to_owned();
                visit.params.insert(parameter.to_owned(), value);
                see_other(&visit.fill(page, &[]), &[])
            }
            Err(refusal) if refusal.is_of_stranger() || refusal.code == "csrf_token_wrong" => {
                visit.refused(&refusal).await
            }
            Err(refusal) => self.again(visit, refusal).await,
        }
    }

    async fn again(&self, mut visit: Visit, refusal: Refusal) -> Response {
        visit.problem = Some(refusal);
        match (self.page.load)(&visit).await {
            Ok(data) => visit.render(self.page.template, data),
            Err(refusal) => visit.refused(&refusal).await,
        }
    }
}

/// Fields of a form as parameters of the same names.
pub(crate) fn fields(form: &Form, names: &[&'static str]) -> Vec<(&'static str, String)> {
    names.iter().map(|name| (*name, form.get(name).unwrap_or_default().to_owned())).collect()
}
