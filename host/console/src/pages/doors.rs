//! Ways in and out: signing in, accepting an invitation, a lost password, a new hub's first operator.

use axum::Router;
use axum::http::header::SET_COOKIE;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::Response;
use axum::routing::{get, post};
use serde_json::{Value, json};

use crate::Console;
use crate::answer::see_other;
use crate::door::Answer;
use crate::language::Language;
use crate::pending::{self, Pending};
use crate::refusal::Refusal;
use crate::visit::{LANGUAGE_COOKIE, LOCK_COOKIE, Visit, encode};

pub(crate) fn router() -> Router<Console> {
    Router::new()
        .route("/console/sign-in", get(sign_in_page).post(sign_in))
        .route("/console/sign-in/code", get(code_page).post(code))
        .route("/console/returned", get(returned_page).post(returned))
        .route("/console/sign-out", post(sign_out))
        .route("/console/accept", get(accept_page).post(accept))
        .route("/console/accept/join", post(join))
        .route("/console/password/lost", get(lost_page).post(lost))
        .route("/console/password/reset", get(reset_page).post(reset))
        .route("/console/first", get(first_page).post(first))
        .route("/console/language", post(language))
        .route("/console/reading-only", post(reading_only))
}

/// A page of the console to go to after signing in. Others are not gone to.
fn next(visit: &Visit) -> String {
    let wanted = visit.form.get("next").unwrap_or(visit.query("next"));
    let is_own = (wanted == "/console" || wanted.starts_with("/console/")) && !wanted.contains(['\\', '\r', '\n']);
    if is_own { wanted.to_owned() } else { "/console".to_owned() }
}

/// Shows the form again, with the reason.
fn again(mut visit: Visit, refusal: Refusal, template: &str, data: Value) -> Response {
    visit.problem = Some(refusal);
    visit.render(template, data)
}

/// Enters the console with the session that an answer brought.
fn entered(visit: &Visit, answer: &Answer, path: &str) -> Response {
    let cookies = answer.headers.get_all(SET_COOKIE).iter().cloned();
    let ended = pending::ended(&visit.console.app).ok();
    see_other(path, &cookies.chain(ended).collect::<Vec<_>>())
}

async fn sign_in_page(visit: Visit) -> Response {
    let next = next(&visit);
    if visit.sender.session.is_some() && visit.get("/api/people/me", &[]).await.is_ok() {
        return see_other(&next, &[]);
    }
    let data = sign_in_data(&visit, &next);
    visit.render("sign-in.html", data)
}

/// Values for the page of the sign-in.
fn sign_in_data(visit: &Visit, next: &str) -> Value {
    json!({"next": next, "openid": visit.console.app.settings.oidc_issuer.is_some()})
}

async fn sign_in(mut visit: Visit) -> Response {
    let next = next(&visit);
    let email = visit.form.get("email").unwrap_or_default().to_owned();
    let password = visit.form.exact("password").unwrap_or_default().to_owned();
    let body = json!({"email": email, "password": password, "cookie": true});
    match visit.send(Method::POST, "/api/people/sign-in", Some(&body)).await {
        Ok(answer) => entered(&visit, &answer, &next),
        Err(refusal) if refusal.code == "second_factor_needed" => {
            let app = &visit.console.app;
            match Pending::new(app, &email, &password, &next).cookie(app) {
                Ok(cookie) => see_other("/console/sign-in/code", &[cookie]),
                Err(refusal) => visit.refused(&refusal).await,
            }
        }
        Err(refusal) => {
            let data = sign_in_data(&visit, &next);
            again(visit, refusal, "sign-in.html", data)
        }
    }
}

async fn code_page(headers: HeaderMap, visit: Visit) -> Response {
    match Pending::find(&visit.console.app, &headers) {
        Some(pending) => visit.render("code.html", json!({"email": pending.email})),
        None => see_other("/console/sign-in", &[]),
    }
}

async fn code(headers: HeaderMap, mut visit: Visit) -> Response {
    let Some(pending) = Pending::find(&visit.console.app, &headers) else {
        return see_other("/console/sign-in", &[]);
    };
    let code = visit.form.get("code").unwrap_or_default().replace(' ', "");
    let body = json!({"email": pending.email, "password": pending.password, "code": code, "cookie": true});
    match visit.send(Method::POST, "/api/people/sign-in", Some(&body)).await {
        Ok(answer) => entered(&visit, &answer, &pending.next),
        Err(refusal) => again(visit, refusal, "code.html", json!({"email": pending.email})),
    }
}

/// Page to which the OpenID provider's answer leads. The browser sends the new session's cookie only from here on: it
/// came from another site.
async fn returned_page(visit: Visit) -> Response {
    let needs_code = visit.query("signIn") == "second_factor_needed";
    visit.render("returned.html", json!({"needsCode": needs_code}))
}

async fn returned(mut visit: Visit) -> Response {
    let code = visit.form.get("code").unwrap_or_default().replace(' ', "");
    match visit.send(Method::POST, "/api/people/openid/second-factor", Some(&json!({"code": code}))).await {
        Ok(answer) => entered(&visit, &answer, "/console"),
        Err(refusal) => again(visit, refusal, "returned.html", json!({"needsCode": true})),
    }
}

async fn sign_out(mut visit: Visit) -> Response {
    let everywhere = visit.form.get("everywhere").is_some();
    let route = if everywhere { "/api/people/sign-out-everywhere" } else { "/api/people/sign-out" };
    match visit.send(Method::POST, route, None).await {
        Ok(answer) => entered(&visit, &answer, "/console/sign-in?done=signed-out"),
        Err(refusal) => visit.refused(&refusal).await,
    }
}

/// The token of a mail's link.
fn token(visit: &Visit) -> String {
    visit.form.get("token").unwrap_or(visit.query("token")).to_owned()
}

async fn accept_page(mut visit: Visit) -> Response {
    if visit.sender.session.is_some() {
        // A person with an account joins by it.
        let _ = visit.enter().await;
    }
    let data = json!({"token": token(&visit), "openid": visit.console.app.settings.oidc_issuer.is_some()});
    visit.render("accept.html", data)
}

async fn accept(mut visit: Visit) -> Response {
    let token = token(&visit);
    let name = visit.form.get("name").unwrap_or_default();
    let body = json!({"token": token, "name": name, "password": visit.form.exact("password"), "cookie": true});
    match visit.send(Method::POST, "/api/people/accept", Some(&body)).await {
        Ok(answer) => entered(&visit, &answer, "/console"),
        Err(refusal) if refusal.code == "person_exists" => {
            see_other(&format!("/console/sign-in?next={}", encode(&format!("/console/accept?token={token}"))), &[])
        }
        Err(refusal) => again(visit, refusal, "accept.html", json!({"token": token})),
    }
}

async fn join(mut visit: Visit) -> Response {
    let token = token(&visit);
    match visit.send(Method::POST, "/api/people/join", Some(&json!({"token": token}))).await {
        Ok(_) => see_other("/console", &[]),
        Err(refusal) if refusal.is_of_stranger() => visit.refused(&refusal).await,
        Err(refusal) => {
            let _ = visit.enter().await;
            again(visit, refusal, "accept.html", json!({"token": token}))
        }
    }
}

async fn lost_page(visit: Visit) -> Response {
    visit.render("lost.html", json!({}))
}

async fn lost(mut visit: Visit) -> Response {
    let body = json!({"email": visit.form.get("email")});
    match visit.send(Method::POST, "/api/people/password/lost", Some(&body)).await {
        Ok(_) => visit.render("door-note.html", json!({"note": "lost"})),
        Err(refusal) => again(visit, refusal, "lost.html", json!({})),
    }
}

async fn reset_page(visit: Visit) -> Response {
    let data = json!({"token": token(&visit)});
    visit.render("reset.html", data)
}

async fn reset(mut visit: Visit) -> Response {
    let token = token(&visit);
    let body = json!({"token": token, "password": visit.form.exact("password")});
    match visit.send(Method::POST, "/api/people/password/reset", Some(&body)).await {
        Ok(_) => see_other("/console/sign-in?done=password", &[]),
        Err(refusal) => again(visit, refusal, "reset.html", json!({"token": token})),
    }
}

async fn first_page(visit: Visit) -> Response {
    let data = json!({"code": visit.query("code")});
    visit.render("first.html", data)
}

async fn first(mut visit: Visit) -> Response {
    let code = visit.form.get("code").unwrap_or_default().to_owned();
    let text = |name: &str| visit.form.get(name);
    let body = json!({"code": code, "name": text("name"), "email": text("email"),
        "password": visit.form.exact("password"), "cookie": true});
    match visit.send(Method::POST, "/api/people/first-operator", Some(&body)).await {
        Ok(answer) => entered(&visit, &answer, "/console"),
        Err(refusal) => again(visit, refusal, "first.html", json!({"code": code})),
    }
}

/// Remembers the language of this browser, and returns to the page.
async fn language(visit: Visit) -> Response {
    let chosen = visit.form.get("language").unwrap_or_default();
    let known = Language::all().iter().map(Language::code).find(|code| *code == chosen);
    let Some(code) = known else {
        let refusal =
            Refusal::new("invalid_request", "The console does not have this language.", StatusCode::BAD_REQUEST);
        return visit.refused(&refusal).await;
    };
    let cookie = format!("{LANGUAGE_COOKIE}={code}; Path=/console; Max-Age=31536000; SameSite=Strict");
    see_other(&next(&visit), HeaderValue::try_from(cookie).ok().as_slice())
}

/// Lets this browser only read, or change things again, and returns to the page.
async fn reading_only(visit: Visit) -> Response {
    let seconds = if visit.form.get("on").is_some() { 31_536_000 } else { 0 };
    let cookie = format!("{LOCK_COOKIE}=1; Path=/console; Max-Age={seconds}; HttpOnly; SameSite=Strict");
    see_other(&next(&visit), HeaderValue::try_from(cookie).ok().as_slice())
}
