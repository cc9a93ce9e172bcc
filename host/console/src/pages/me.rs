//! A person's own account.

use serde_json::{Value, json};

use crate::refusal::Refusal;
use crate::visit::Visit;

pub(super) async fn read(_: &Visit) -> Result<Value, Refusal> {
    Ok(json!({}))
}
