//! Chat lines, and what the modules made of them.

use serde_json::{Value, json};

use crate::page::{Page, page};
use crate::refusal::Refusal;
use crate::visit::Visit;

pub(super) static PAGES: &[Page] = &[page!("/n/{network}/chat", "chat.html", history)];

async fn history(visit: &Visit) -> Result<Value, Refusal> {
    let query = [
        ("limit", "100"),
        ("page", visit.query("page")),
        ("playerUuid", visit.query("playerUuid")),
        ("serverId", visit.query("serverId")),
        ("search", visit.query("search")),
        ("around", visit.query("around")),
    ];
    Ok(json!({"chat": visit.get("/api/manage/chat", &query).await?}))
}
