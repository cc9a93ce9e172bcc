//! Config documents, texts and collections.

use serde_json::{Value, json};
use tokio::join;

use crate::action::{Action, Verb};
use crate::form::Field;
use crate::page::{Page, page};
use crate::refusal::Refusal;
use crate::visit::{Visit, encode};

pub(super) static PAGES: &[Page] = &[
    page!("/n/{network}/config", "config.html", config),
    page!("/n/{network}/texts", "texts.html", texts),
    page!("/n/{network}/texts/locales", "locales.html", locales),
    page!("/n/{network}/collections", "collections.html", collections),
];

const CONFIG: &[Field] = &[Field::text("group"), Field::text("namespace"), Field::json("doc")];
const DOC: &[Field] = &[Field::json("doc")];
const DOCUMENT: &str = "/api/plugin/collections/{collection}/{id}";
const COLLECTIONS: &str = "/n/{network}/collections";
const MESSAGE: &str = "/api/manage/localization/messages/{locale}/{namespace}/{key}";
const TEXT: &[Field] = &[Field::exact("value")];
const TEXTS: &str = "/n/{network}/texts";
const LOCALE: &[Field] = &[Field::text("displayName"), Field::choice("isDefault"), Field::choice("enabled")];
const LOCALES: &str = "/n/{network}/texts/locales";

pub(super) static ACTIONS: &[Action] = &[
    Action::post("/n/{network}/config", "/api/plugin/config/publish", CONFIG, "/n/{network}/config", "")
        .unless_changed("/api/plugin/config/{group}/{namespace}")
        .go("/n/{network}/config?group={group}&namespace={namespace}", "Saved"),
    Action::post(TEXTS, MESSAGE, TEXT, TEXTS, "")
        .verb(Verb::Put)
        .unless_changed_among(
            "/api/manage/localization/messages?locale={locale}&namespace={namespace}&search={key}&limit=200",
            ("items", "key", "key"),
        )
        .go("/n/{network}/texts?locale={locale}&namespace={namespace}&search={search}", "Saved"),
    Action::post("/n/{network}/texts/delete", MESSAGE, &[], TEXTS, "")
        .verb(Verb::Delete)
        .at_revision()
        .go("/n/{network}/texts?locale={locale}&namespace={namespace}&search={search}", "Taken back"),
    Action::post(LOCALES, "/api/manage/localization/locales/{locale}", LOCALE, LOCALES, "Saved")
        .verb(Verb::Put)
        .unless_changed_among("/api/manage/localization/locales?limit=200", ("items", "locale", "locale")),
    Action::post(COLLECTIONS, DOCUMENT, DOC, COLLECTIONS, "")
        .verb(Verb::Put)
        .whole()
        .unless_changed(DOCUMENT)
        .go("/n/{network}/collections?collection={collection}&id={id}", "Saved"),
    Action::post("/n/{network}/collections/delete", DOCUMENT, &[], COLLECTIONS, "")
        .verb(Verb::Delete)
        .at_revision()
        .confirm("id")
        .go("/n/{network}/collections?collection={collection}", "Deleted"),
];

/// A parameter of the address, or else of the form that was refused.
fn asked<'a>(visit: &'a Visit, name: &str) -> &'a str {
    visit.form.get(name).unwrap_or_else(|| visit.query(name))
}

/// A thing that may be missing: null then.
fn or_none(answer: Result<Value, Refusal>) -> Result<Value, Refusal> {
    match answer {
        Err(refusal) if refusal.status == axum::http::StatusCode::NOT_FOUND => Ok(Value::Null),
        answer => answer,
    }
}

async fn config(visit: &Visit) -> Result<Value, Refusal> {
    let (group, namespace) = (asked(visit, "group"), asked(visit, "namespace"));
    // Without a question the page asks for one that there is not: it is for those who may read documents.
    let known = |text: &str| if text.is_empty() { "none".to_owned() } else { encode(text) };
    let (group, namespace) = (known(group), known(namespace));
    let found = or_none(visit.get(&format!("/api/plugin/config/{group}/{namespace}"), &[]).await)?;
    Ok(json!({"group": asked(visit, "group"), "namespace": asked(visit, "namespace"), "found": found}))
}

async fn texts(visit: &Visit) -> Result<Value, Refusal> {
    let query = [
        ("limit", "50"),
        ("page", visit.query("page")),
        ("locale", asked(visit, "locale")),
        ("namespace", asked(visit, "namespace")),
        ("search", asked(visit, "search")),
    ];
    let (messages, locales) = join!(
        visit.get("/api/manage/localization/messages", &query),
        visit.get("/api/manage/localization/locales", &[("limit", "200")]),
    );
    let shown = json!({"locale": query[2].1, "namespace": query[3].1, "search": query[4].1});
    Ok(json!({"messages": messages?, "locales": locales?, "shown_for": shown}))
}

async fn locales(visit: &Visit) -> Result<Value, Refusal> {
    Ok(json!({"locales": visit.get("/api/manage/localization/locales", &[("limit", "200")]).await?}))
}

/// A collection's documents by an indexed field, or one by its id.
async fn collections(visit: &Visit) -> Result<Value, Refusal> {
    let (name, id, field) = (asked(visit, "collection"), asked(visit, "id"), visit.query("field"));
    let mut data = json!({"collection": name, "id": id});
    let collection = encode(name);
    if name.is_empty() {
        // A document that no collection has: its answer says whether the person may read any.
        let (collection, id) = ("none", "none");
        or_none(visit.get(&format!("/api/plugin/collections/{collection}/{id}"), &[]).await)?;
    } else if !id.is_empty() {
        let id = encode(id);
        let read = visit.get_with_revision(&format!("/api/plugin/collections/{collection}/{id}")).await;
        data["revision"] = json!(read.as_ref().ok().and_then(|(_, revision)| revision.as_deref()));
        data["found"] = or_none(read.map(|(document, _)| document))?;
    } else if !field.is_empty() {
        let field = encode(field);
        let part = [("limit", "50"), ("cursor", visit.query("cursor"))];
        let value = visit.query("value");
        data["documents"] = if value.is_empty() {
            let order = [part[0], part[1], ("order", visit.query("order"))];
            visit.get(&format!("/api/plugin/collections/{collection}/page/{field}"), &order).await?
        } else {
            let by = [part[0], part[1], ("value", value)];
            visit.get(&format!("/api/plugin/collections/{collection}/by/{field}"), &by).await?
        };
    }
    Ok(data)
}
