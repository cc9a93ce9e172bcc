//! Weight of each piece of work that the hub does for a network, given the largest input that the limits allow: memory
//! and steps, counted by the allocator, so that they hardly depend on the machine. Another network is served
//! meanwhile. With `HUB_WEIGH_TIMES=1` and an optimised build, times count as well.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::disallowed_methods, missing_docs, unreachable_pub)]

mod answers;
mod background;
mod counting;
mod files;
mod messages;
mod pages;
mod scale;
#[allow(dead_code, unused_imports, unused_macros, reason = "other tests use the rest")]
#[path = "../it/support/mod.rs"]
mod support;

use scale::Scale;
use support::{Backend, Hub};

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

/// Operations that are not weighed by a request of their own.
const SMALL: &[&str] = &[
    // Files, which are read while they are sent.
    "GET /api/artifacts/{token}",
    "GET /api/manage/modules/{name}/{version}/wasm",
    "GET /api/plugin/provisioning/agent-script",
    "GET /api/plugin/provisioning/agent/{serverType}",
    "GET /api/worlds/blobs/{token}",
    // Streams: `messages` reads one.
    "GET /api/manage/servers/{serverId}/logs",
    "GET /api/plugin/events",
    // One row of bounded texts.
    "GET /api/manage/players/{uuid}/data/{gameMode}/{namespace}/snapshots/{snapshotId}",
    "GET /api/manage/transfers/{transferId}",
    "GET /api/plugin/matchmaking/tickets/{ticketId}",
    "GET /api/plugin/players/{uuid}/session",
    // A person's own account.
    "GET /api/people/devices/{userCode}",
    "GET /api/people/me",
    "GET /api/people/openid/callback",
    "GET /api/people/openid/sign-in",
    "GET /api/people/sessions",
    // Nothing of a network.
    "GET /api/plugin/provisioning/agent-version",
    "GET /api/public/waitlist/confirm",
    "GET /api/version",
    "GET /healthz",
    "GET /readyz",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_work_outweighs_its_bounds() {
    // One test, since the allocator counts for the whole process.
    let hub = Hub::start_with(Backend::sqlite(), |settings| {
        settings.webhook_networks = vec!["127.0.0.2/32".parse().unwrap()];
    })
    .await;
    let mut scale = Scale::new(hub).await;
    let answers = answers::weigh(&mut scale).await;
    let messages = messages::weigh(&mut scale).await;
    pages::weigh(&mut scale, &[&answers, &messages]).await;
    background::weigh(&mut scale).await;
    files::weigh(&mut scale).await;
    scale.finish(SMALL).await;
}
