//! A network's plan, and how much of it is used.

use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::http::error::ApiError;
use crate::limits::{self, Limit, ModuleLimits, PlanLimits, storage_counts_of};
use crate::modules;
use crate::values::NetworkId;
use crate::{deliveries, networks, plans, presence, reports, waiting_lines, webhooks};

/// Plan of a network, with its use.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = NetworkPlan)]
pub(super) struct NetworkPlan {
    #[schema(example = "small")]
    name: String,
    limits: PlanLimits,
    module_limits: ModuleLimits,
    /// Limits of what the network has, with the use of each.
    uses: Vec<LimitUse>,
}

/// A limit and its use.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub(super) struct LimitUse {
    #[schema(value_type = String, example = "servers")]
    pub(super) limit: &'static str,
    /// The plan's, but at most the hub's.
    #[schema(example = 100)]
    pub(super) value: i64,
    /// Of streams, those at the node of the network's owner; of deliveries, as last counted.
    #[schema(example = 12)]
    pub(super) used: i64,
}

/// Plan of a network, with its use.
pub(super) async fn of_network(app: &App, network: NetworkId) -> Result<NetworkPlan, ApiError> {
    let plan = plans::service::of_network(app, network).await?;
    let uses = uses(app, network).await?;
    Ok(NetworkPlan { name: plan.name, limits: plan.limits, module_limits: plan.module_limits, uses })
}

/// Use of the limits that a plan may set.
pub(super) async fn uses(app: &App, network: NetworkId) -> Result<Vec<LimitUse>, ApiError> {
    let (servers, players) = presence::service::online_counts(app, network);
    let waiting = waiting_lines::service::waiting(app, network).await?;
    let stored = storage_counts_of(app, network).await?;
    let of_network = limits::of(app, network).await?;
    let used = [
        (Limit::Servers, servers as i64),
        (Limit::Players, players as i64),
        (Limit::Streams, limits::opened(app, network, Limit::Streams)),
        (Limit::Waiting, waiting as i64),
        (Limit::Keys, networks::service::key_count(app, network).await?),
        (Limit::Documents, stored.documents),
        (Limit::StorageBytes, stored.row_bytes.saturating_add(stored.module_store_bytes)),
        (Limit::FileBytes, stored.file_bytes),
        (Limit::Modules, modules::service::version_count(app, network).await?),
        (Limit::Webhooks, webhooks::count(app, network).await?),
        (Limit::Deliveries, deliveries::service::open(app, network).await?),
        (Limit::Reports, reports::service::not_closed(app, network).await?),
    ];
    let of = |(limit, used): (Limit, i64)| LimitUse { limit: limit.name(), value: of_network.value(limit), used };
    Ok(used.map(of).to_vec())
}
