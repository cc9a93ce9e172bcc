//! A person's own account.

use serde_json::{Value, json};

use crate::refusal::Refusal;
use crate::visit::Visit;

#[expect(clippy::unused_async, reason = "pages are asynchronous")]
pub(super) async fn read(_: &Visit) -> Result<Value, Refusal> {
    Ok(json!({}))
}
