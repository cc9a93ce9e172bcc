//! Forms of pages: each is one request to a route of the hub.

use axum::http::{Method, StatusCode};
use axum::response::Response;
use serde_json::{Value, json};

use crate::answer;
use crate::form::{Field, body};
use crate::page::Page;
use crate::refusal::Refusal;
use crate::visit::{Visit, encode};

/// Finds the page of an address.
type Pages = fn(&str) -> Option<&'static Page>;

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
    /// Second request, once the first was accepted: a blank field of this name leaves it out.
    pub(crate) also: Option<(&'static str, Verb, &'static str, &'static [Field])>,
    pub(crate) guard: Option<Guard>,
    /// True if the form has the revision that it was made from, in the field `revision`: another one is refused.
    pub(crate) has_revision: bool,
    /// True if the body is the only field, and not an object with it.
    pub(crate) whole: bool,
}

/// Object that a form was made from: if it changed meanwhile, the person sees both instead of overwriting it. The form
/// has it in the field `was`.
#[derive(Clone, Copy)]
pub(crate) struct Guard {
    /// Route that reads it now.
    pub(crate) route: &'static str,
    /// List that has it as an item: its field, empty if the answer is the list, and the field and parameter that tell which.
    pub(crate) among: Option<(&'static str, &'static str, &'static str)>,
}

/// Method of the route.
#[derive(Clone, Copy)]
pub(crate) enum Verb {
    Post,
    Put,
    Patch,
    Delete,
}

impl From<Verb> for Method {
    fn from(verb: Verb) -> Self {
        match verb {
            Verb::Post => Self::POST,
            Verb::Put => Self::PUT,
            Verb::Patch => Self::PATCH,
            Verb::Delete => Self::DELETE,
        }
    }
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
        let then = Then::Go(page, done);
        Self {
            at,
            verb: Verb::Post,
            route,
            fields,
            page,
            then,
            confirm: None,
            also: None,
            guard: None,
            has_revision: false,
            whole: false,
        }
    }

    /// A second request, if the field is not blank.
    pub(crate) const fn also(
        self,
        field: &'static str,
        verb: Verb,
        route: &'static str,
        fields: &'static [Field],
    ) -> Self {
        Self { also: Some((field, verb, route, fields)), ..self }
    }

    /// The body is the only field itself.
    pub(crate) const fn whole(self) -> Self {
        Self { whole: true, ..self }
    }

    pub(crate) const fn at_revision(self) -> Self {
        Self { has_revision: true, ..self }
    }

    pub(crate) const fn unless_changed(self, route: &'static str) -> Self {
        Self { guard: Some(Guard { route, among: None }), ..self }
    }

    /// The same for an item of a list.
    pub(crate) const fn unless_changed_among(
        self,
        route: &'static str,
        among: (&'static str, &'static str, &'static str),
    ) -> Self {
        Self { guard: Some(Guard { route, among: Some(among) }), ..self }
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

    pub(crate) async fn answer(&self, mut visit: Visit, page: Pages) -> Response {
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
            (Ok(()), Then::Show) => self.again(visit, page).await,
            (Err(refusal), _) if refusal.is_of_stranger() || refusal.code == "csrf_token_wrong" => {
                visit.refused(&refusal).await
            }
            (Err(refusal), _) => {
                visit.problem = Some(refusal);
                self.again(visit, page).await
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
        let fields = body(self.fields, &visit.form)?;
        let whole = self.whole.then(|| self.fields[0].name());
        let mut revision = visit.form.get("revision").filter(|_| self.has_revision).map(str::to_owned);
        if let Some(guard) = &self.guard {
            // Between this look and the change the revision decides.
            revision = guard.check(visit, &fields, whole).await?;
        }
        let typed = fields.clone();
        let fields = if self.whole { fields[self.fields[0].name()].clone() } else { fields };
        let has_body = !matches!(self.verb, Verb::Delete) && fields.as_object().is_none_or(|it| !it.is_empty());
        // A route of fields has a body, though all of them were left blank.
        let has_body = has_body || matches!(self.verb, Verb::Put | Verb::Patch);
        let has_body = has_body || (matches!(self.verb, Verb::Post) && !self.fields.is_empty());
        let body_sent = has_body.then_some(&fields);
        let sent = visit.send_from(self.verb.into(), self.route, body_sent, revision.as_deref()).await;
        let answer = match (sent, &self.guard) {
            (Err(refusal), Some(guard)) if refusal.code == "revision_changed" => {
                guard.check(visit, &typed, whole).await?;
                return Err(refusal);
            }
            (sent, _) => sent?,
        };
        visit.result = json!({"action": self.at, "body": answer.body});
        let Some((field, verb, route, fields)) = self.also else { return Ok(()) };
        if visit.form.get(field).is_some() {
            let fields = body(fields, &visit.form)?;
            visit.send(verb.into(), route, Some(&fields)).await?;
        }
        Ok(())
    }

    /// The page of the form, with what was typed.
    async fn again(&self, visit: Visit, page: Pages) -> Response {
        let Some(page) = page(self.page) else {
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

impl Guard {
    /// Refuses the form if what it was made from has changed: the page shows before, theirs and yours. Returns the revision
    /// that the change is made from.
    async fn check(&self, visit: &mut Visit, typed: &Value, whole: Option<&str>) -> Result<Option<String>, Refusal> {
        let Some(was) = visit.form.get("was").and_then(|was| serde_json::from_str::<Value>(was).ok()) else {
            return Ok(None);
        };
        let (mut now, revision) = self.read_with_revision(visit).await?;
        if let Some(name) = whole {
            now = json!({name: now});
        }
        // A form of one field may give it another name.
        let only = typed.as_object().filter(|typed| typed.len() == 1).and_then(|typed| typed.values().next());
        let fields = was.as_object().into_iter().flatten();
        let rows: Vec<_> = fields
            .filter(|(name, before)| now[name.as_str()] != **before)
            .map(|(name, before)| {
                let (theirs, yours) = (&now[name.as_str()], typed.get(name).or(only));
                json!({"field": name, "before": before, "theirs": theirs, "yours": yours})
            })
            .collect();
        if rows.is_empty() {
            return Ok(revision);
        }
        visit.result = json!({"conflict": rows, "for": visit.path});
        let message = "Somebody changed this meanwhile. Nothing you typed is lost.";
        Err(Refusal::new("revision_changed", message, StatusCode::CONFLICT))
    }

    /// The object as it is now, null if there is none, with its revision, where it has one. What is not there is at
    /// revision 0.
    pub(crate) async fn read_with_revision(&self, visit: &Visit) -> Result<(Value, Option<String>), Refusal> {
        let none = || Some("0".to_owned());
        let (answer, tag) = match visit.get_with_revision(self.route).await {
            Err(refusal) if refusal.status == StatusCode::NOT_FOUND => (Value::Null, none()),
            answer => answer?,
        };
        let Some((list, field, parameter)) = self.among else { return Ok((answer, tag)) };
        let items = if list.is_empty() { &answer } else { &answer[list] };
        let wanted = visit.fill(&format!("{{{parameter}}}"), &[]);
        let mut items = items.as_array().into_iter().flatten();
        let found = items.find(|item| crate::visit::encode(item[field].as_str().unwrap_or_default()) == wanted);
        let Some(found) = found else { return Ok((Value::Null, none())) };
        Ok((found.clone(), found["revision"].as_i64().map(|revision| revision.to_string())))
    }
}
