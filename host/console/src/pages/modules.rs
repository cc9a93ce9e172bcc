//! A network's modules, and the chains that they are in.

use serde_json::{Value, json};
use tokio::join;

use crate::refusal::Refusal;
use crate::visit::Visit;

const POINTS: [&str; 3] = ["matchmaking", "chat", "punishment"];

pub(super) async fn list(visit: &Visit) -> Result<Value, Refusal> {
    let modules = visit.get("/api/manage/modules", &[("limit", "100")]).await?;
    let mut chains = vec![];
    for point in POINTS {
        let chain = visit.get(&format!("/api/manage/extension-points/{point}"), &[]).await?;
        chains.push(json!({"point": point, "chain": chain}));
    }
    Ok(json!({"modules": modules, "chains": chains}))
}

pub(super) async fn one(visit: &Visit) -> Result<Value, Refusal> {
    let (versions, log) = join!(
        visit.get("/api/manage/modules/{name}", &[]),
        visit.part("/api/manage/modules/{name}/logs", &[("limit", "100")]),
    );
    Ok(json!({"versions": versions?, "log": log?}))
}
