//! Rules of plans.

use bytes::Bytes;
use hub_db::{Db, Tx};
use serde_json::{Value, json};
use thiserror::Error;

use crate::app::App;
use crate::audit::{self, Action, Change};
use crate::auth::{KeyCache, OPERATOR_NETWORK, Origin};
use crate::clock::{Clock, Millis};
use crate::cluster::ShardRegistry;
use crate::http::error::ApiError;
use crate::http::if_match::{Changed, IfMatch};
use crate::limits::{Limits, ModuleLimits, PlanLimits};
use crate::plans::store::{self, PlanRow};
use crate::values::NetworkId;

/// Plan of new networks.
pub(crate) const DEFAULT_PLAN: &str = "default";
/// Topic of announcements between nodes about changed plans or networks.
const TOPIC: &str = "plans";

/// Reason for the failure of a request about plans.
#[derive(Debug, Error)]
pub enum PlansError {
    /// The name is taken.
    #[error("A plan `{0}` already exists.")]
    NameTaken(String),
    /// No such plan.
    #[error("No plan `{0}`.")]
    Unknown(String),
    /// Networks are on it.
    #[error("The network `{1}` is on the plan `{0}`; move its networks to another plan first.")]
    InUse(String, String),
    /// New networks are on it.
    #[error("The plan `default` of new networks cannot be deleted.")]
    IsDefault,
    /// Another change came first.
    #[error(transparent)]
    Changed(#[from] Changed),
    /// A stored plan is unreadable.
    #[error("could not read the plan {0}: {1}")]
    Unreadable(String, serde_json::Error),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] hub_db::Error),
}

impl From<PlansError> for ApiError {
    fn from(error: PlansError) -> Self {
        let message = error.to_string();
        match error {
            PlansError::NameTaken(_) => Self::bad_request("name_taken", message),
            PlansError::Unknown(_) => Self::not_found("unknown_plan", message),
            PlansError::InUse(..) | PlansError::IsDefault => Self::bad_request("plan_in_use", message),
            PlansError::Changed(changed) => changed.into(),
            PlansError::Unreadable(..) => Self::internal(error),
            PlansError::Database(error) => error.into(),
        }
    }
}

/// A plan.
#[derive(Clone, Debug)]
pub struct Plan {
    pub name: String,
    pub limits: PlanLimits,
    pub module_limits: ModuleLimits,
    pub created_at: Millis,
    pub updated_at: Millis,
}

impl Plan {
    fn of(row: PlanRow) -> Result<Self, PlansError> {
        let unreadable = |error| PlansError::Unreadable(row.name.clone(), error);
        Ok(Self {
            limits: serde_json::from_str(&row.limits).map_err(unreadable)?,
            module_limits: serde_json::from_str(&row.module_limits).map_err(unreadable)?,
            name: row.name,
            created_at: row.created_at,
            updated_at: row.updated_at,
        })
    }

    /// A plan's form in the audit log.
    pub(super) fn shown(&self) -> Value {
        json!({"limits": self.limits, "moduleLimits": self.module_limits})
    }

    fn row(&self) -> Result<PlanRow, PlansError> {
        let (limits, module_limits) = self.texts()?;
        let Self { name, created_at, updated_at, .. } = self.clone();
        Ok(PlanRow { name, limits, module_limits, created_at, updated_at })
    }

    fn texts(&self) -> Result<(String, String), PlansError> {
        let text =
            |value: serde_json::Result<String>| value.map_err(|error| PlansError::Unreadable(self.name.clone(), error));
        Ok((text(serde_json::to_string(&self.limits))?, text(serde_json::to_string(&self.module_limits))?))
    }
}

/// Plan of a network.
pub async fn of_network(app: &App, network: NetworkId) -> Result<Plan, PlansError> {
    let row = store::of_network(&app.db, network).await?;
    Plan::of(row.ok_or_else(|| PlansError::Unknown("of this network".to_owned()))?)
}

/// Adds the plan of new networks to a new database, and listens to the other nodes.
pub async fn start(app: &App) -> anyhow::Result<()> {
    ensure_default(&app.db, &app.clock).await?;
    if let Some(mut inbox) = app.state::<ShardRegistry>().listen(TOPIC).await? {
        let listening = app.clone();
        app.spawn(async move {
            while let Some(message) = inbox.next().await {
                match network_of(&message) {
                    Some(network) => forget_network(&listening, network),
                    None => forget_all(&listening).await,
                }
            }
        });
    }
    Ok(note_rates(app).await?)
}

/// Records if any plan has rates that responses report.
async fn note_rates(app: &App) -> Result<(), PlansError> {
    let (plans, _) = list(&app.db, i64::MAX, 0).await?;
    if plans.iter().any(|plan| plan.limits.has_rates()) {
        app.state::<Limits>().note_rates();
    }
    Ok(())
}

/// Adds the plan of new networks if it is missing.
pub async fn ensure_default(db: &Db, clock: &Clock) -> Result<(), PlansError> {
    if store::find(db, DEFAULT_PLAN).await?.is_none() {
        let now = clock.now();
        let (limits, module_limits) = (PlanLimits::default(), ModuleLimits::default());
        let plan = Plan { name: DEFAULT_PLAN.to_owned(), limits, module_limits, created_at: now, updated_at: now };
        // Another node may have been quicker.
        store::insert(db, &plan.row()?).await?;
    }
    Ok(())
}

async fn forget_all(app: &App) {
    app.state::<Limits>().invalidate();
    app.state::<KeyCache>().clear();
    if let Err(error) = note_rates(app).await {
        tracing::warn!(%error, "could not read the plans");
    }
}

fn forget_network(app: &App, network: NetworkId) {
    app.state::<Limits>().invalidate_network(network);
    app.state::<KeyCache>().invalidate_network(network);
}

/// Network of an announcement; none if it is about a plan.
fn network_of(message: &[u8]) -> Option<NetworkId> {
    uuid::Uuid::from_slice(message).ok().map(NetworkId)
}

/// Applies an operator's change of a plan, or of a network, here at once and notifies the other nodes. Without the message
/// they notice it after half a second.
pub(crate) async fn announce_change(app: &App) {
    forget_all(app).await;
    broadcast(app, Bytes::new()).await;
}

/// The same for a change of one network by its owner, which costs the others nothing.
pub(crate) async fn announce_network_change(app: &App, network: NetworkId) {
    forget_network(app, network);
    broadcast(app, Bytes::copy_from_slice(network.0.as_bytes())).await;
}

async fn broadcast(app: &App, message: Bytes) {
    if let Err(error) = app.state::<ShardRegistry>().broadcast(TOPIC, message).await {
        tracing::debug!(%error, "could not notify the other nodes of a changed plan or network");
    }
}

/// Creates a plan.
pub async fn create(
    db: &Db,
    origin: &Origin,
    name: &str,
    limits: PlanLimits,
    module_limits: ModuleLimits,
) -> Result<Plan, PlansError> {
    let now = origin.clock.now();
    let plan = Plan { name: name.to_owned(), limits, module_limits, created_at: now, updated_at: now };
    let row = plan.row()?;
    db.transaction(async |mut tx| {
        if !store::insert(&mut tx, &row).await? {
            return Err(PlansError::NameTaken(name.to_owned()));
        }
        let change = Change::new(Action::PlanCreated, name).after(plan.shown());
        Ok(audit::record(&mut tx, OPERATOR_NETWORK, origin, change).await?)
    })
    .await?;
    Ok(plan)
}

/// Replaces the limits of a plan, only at the revision `expected` if one is given.
pub async fn set(
    db: &Db,
    origin: &Origin,
    name: &str,
    (limits, module_limits): (PlanLimits, ModuleLimits),
    expected: IfMatch,
) -> Result<Plan, PlansError> {
    let now = origin.clock.now();
    let plan = Plan { name: name.to_owned(), limits, module_limits, created_at: now, updated_at: now };
    let (limits, module_limits) = plan.texts()?;
    db.transaction(async |mut tx| {
        let unknown = || PlansError::Unknown(name.to_owned());
        // Two changes at once follow each other: the entry shows what it replaced.
        lock(&mut tx, name).await?;
        let before = Plan::of(store::find(&mut tx, name).await?.ok_or_else(unknown)?)?;
        expected.check(Some(&before.shown()))?;
        let row = store::update(&mut tx, name, &limits, &module_limits, now).await?;
        let after = Plan::of(row.ok_or_else(unknown)?)?;
        let change = Change::new(Action::PlanChanged, name).before(before.shown()).after(after.shown());
        // The new limits apply to them from now on.
        let networks = store::users(&mut tx, name).await?;
        audit::record_for_all(&mut tx, &networks, origin, change).await?;
        Ok(after)
    })
    .await
}

/// One plan.
pub async fn find(db: &Db, name: &str) -> Result<Plan, PlansError> {
    Plan::of(store::find(db, name).await?.ok_or_else(|| PlansError::Unknown(name.to_owned()))?)
}

/// A page of the plans by name, and their number.
pub async fn list(db: &Db, limit: i64, offset: i64) -> Result<(Vec<Plan>, i64), PlansError> {
    let (rows, total) = store::list(db, limit, offset).await?;
    Ok((rows.into_iter().map(Plan::of).collect::<Result<_, _>>()?, total))
}

/// Deletes a plan that no network is on.
pub async fn delete(db: &Db, origin: &Origin, name: &str) -> Result<(), PlansError> {
    if name == DEFAULT_PLAN {
        return Err(PlansError::IsDefault);
    }
    db.transaction(async |mut tx| {
        lock(&mut tx, name).await?;
        if let Some(network) = store::user(&mut tx, name).await? {
            return Err(PlansError::InUse(name.to_owned(), network));
        }
        let before = store::find(&mut tx, name).await?.map(Plan::of).transpose()?;
        store::delete(&mut tx, name).await?;
        let change = Change::new(Action::PlanDeleted, name).before(before.as_ref().map(Plan::shown));
        Ok(audit::record(&mut tx, OPERATOR_NETWORK, origin, change).await?)
    })
    .await
}

/// Keeps a plan from being deleted until the end of the transaction, in which a network is moved to it.
pub async fn lock(tx: &mut Tx, name: &str) -> Result<(), PlansError> {
    if store::lock(tx, name).await? { Ok(()) } else { Err(PlansError::Unknown(name.to_owned())) }
}
