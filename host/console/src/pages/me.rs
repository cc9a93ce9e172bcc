//! A person's own account.

use serde_json::{Value, json};

use crate::refusal::Refusal;
use crate::visit::{Visit, encode};

pub(super) async fn read(visit: &Visit) -> Result<Value, Refusal> {
    Ok(json!({"sessions": visit.get("/api/people/sessions", &[]).await?}))
}

/// A device that wants to be signed in, by the code that was typed.
pub(super) async fn device(visit: &Visit) -> Result<Value, Refusal> {
    let code = visit.form.get("userCode").unwrap_or(visit.query("code")).trim().to_owned();
    if code.is_empty() {
        return Ok(json!({}));
    }
    let route = "/api/people/devices/{userCode}".replace("{userCode}", &encode(&code));
    match visit.get(&route, &[]).await {
        Ok(device) => Ok(json!({"code": code, "device": device})),
        Err(refusal) if refusal.code == "unknown_token" => Ok(json!({"code": code, "isUnknown": true})),
        Err(refusal) => Err(refusal),
    }
}
