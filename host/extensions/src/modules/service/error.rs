//! Errors of requests about modules.

use axum::http::StatusCode;
use hub_sandbox::contract::Point;
use hub_sandbox::manifest::Grants;

use crate::auth::Scope;
use crate::blobs::BlobError;
use crate::http::error::{ApiError, ChangedValue, ErrorDetails, NeededGrants};
use crate::http::if_match::Changed;
use crate::limits::QuotaExceeded;

/// Names of all points, for a message.
fn point_names() -> String {
    let [names @ .., last] = Point::ALL.map(Point::name);
    format!("{} or {last}", names.join(", "))
}

/// Reason for the failure of a request about modules.
#[derive(Debug, thiserror::Error)]
pub enum ModulesError {
    /// The name is invalid.
    #[error("In the query, `name`: {0}.")]
    InvalidName(String),
    /// The bytes are not a valid module.
    #[error("Not a valid module: {0}.")]
    InvalidModule(String),
    /// The network has no such module.
    #[error("This network has no module `{0}`.")]
    UnknownModule(String),
    /// A chain names a module that does not exist.
    #[error("This network has no version {1} of a module `{0}`.")]
    UnknownVersion(String, i64),
    /// A chain names a module that is not READY.
    #[error("Version {1} of `{0}` is not READY and cannot be used in a chain.")]
    NotReady(String, i64),
    /// A chain names a module that does not serve the point.
    #[error("Version {1} of `{0}` does not serve the extension point `{2}`.")]
    PointNotOffered(String, i64, Point),
    /// A chain uses it.
    #[error("Version {1} of `{0}` is in the chain of `{2}`; remove it from the chain first.")]
    InUse(String, i64, String),
    /// The chain, or a link of it, is invalid.
    #[error("In the body, `{0}.")]
    InvalidChain(String),
    /// A new or newly configured module of the chain fails its trial call.
    #[error(
        "In the body, `{place}`: with this configuration `{name}` fails: {why}. Use `?force=true` to activate it \
         anyway."
    )]
    FailedTrial {
        /// Its place in the body.
        place: String,
        /// Its name.
        name: String,
        /// Reason, and its last log lines.
        why: String,
    },
    /// The configuration does not fit the module's schema.
    #[error("In the body, `{}config{path}`: {reason}.", at.map_or_else(String::new, |at| format!("modules[{at}].")))]
    InvalidConfig {
        /// Its module's position in the chain; none in an activation.
        at: Option<usize>,
        /// JSON pointer in the configuration.
        path: String,
        /// Reason.
        reason: String,
    },
    /// The link does not grant what the module needs.
    #[error("`{name}` {version} asks for more than the link grants.")]
    GrantNeeded {
        /// Its name.
        name: String,
        /// Its version.
        version: i64,
        /// Missing grants.
        needed: Box<Grants>,
    },
    /// The caller grants a scope without having it.
    #[error("A caller cannot grant the scope `{0}` without having it.")]
    ForbiddenGrant(Scope),
    /// Nothing was changed: older transactions are still under way.
    #[error("Changes are under way that the module could miss; nothing was changed, try again.")]
    TryAgain,
    /// The module has no such dead letter.
    #[error("The module `{0}` has no dead letter `{1}`.")]
    UnknownDeadLetter(String, String),
    /// The dead letter is being retried.
    #[error("The dead letter `{0}` is being retried.")]
    Running(String),
    /// The dead letter stands for events that were not kept, or for one that the module does not handle any more.
    #[error("The module is not handed the events of the dead letter `{0}` any more, or they were not kept.")]
    NothingToRetry(String),
    /// The module names a secret that is not set.
    #[error("The module names the secret `{0}`, which is not set.")]
    SecretMissing(String),
    /// There is no such secret.
    #[error("No secret `{0}`.")]
    UnknownSecret(String),
    /// An active module names the secret.
    #[error("The active module `{1}` is granted the secret `{0}`.")]
    SecretInUse(String, String),
    /// The module is not in the chain of `events`.
    #[error("The module `{0}` is not active at the extension point `events`.")]
    NotHandling(String),
    /// The module is not in the chain of `schedules`.
    #[error("The module `{0}` is not active at the extension point `schedules`.")]
    NotScheduled(String),
    /// The module sets a timer that nothing would run.
    #[error("No version of the module `{0}` with timers is active at the extension point `schedules`.")]
    NoTimers(String),
    /// The module has no such schedule.
    #[error("The module `{0}` has no active schedule `{1}`.")]
    UnknownSchedule(String, String),
    /// A tick is under way.
    #[error("A tick of the schedule `{0}` is under way.")]
    TickRunning(String),
    /// The module has no such timer.
    #[error("The module `{0}` has no timer `{1}`.")]
    UnknownTimer(String, String),
    /// The network's other uploads are still in progress.
    #[error("Other uploads of this network are in progress; try again later.")]
    TooManyUploads,
    /// Nothing was changed; the network's next owner serves the request.
    #[error("This network is moving to another of the hub's nodes; try again.")]
    Moving,
    /// There is no such point.
    #[error("No extension point `{0}`; use {names}.", names = point_names())]
    UnknownPoint(String),
    /// The point has no previous chain.
    #[error("The extension point `{0}` has no previous chain.")]
    NothingBefore(Point),
    /// The module has no links before its activation.
    #[error("The module `{0}` has no previous activation.")]
    NoActivationBefore(String),
    /// The change would part links that an activation made.
    #[error(
        "The activation of `{0}` made its links at several extension points, with one version, configuration and grants; \
         change them by /api/manage/modules/{0}/activation."
    )]
    UseActivation(String),
    /// The point has no such revision, or it is not kept.
    #[error("The extension point `{1}` has no revision {0}, or it is not kept.")]
    UnknownRevision(i64, Point),
    /// The chain was changed since its caller read it.
    #[error(
        "The chain of `{point}` is at revision {}: it was changed since revision {}.",
        .changed.revision,
        .changed.expected
    )]
    RevisionChanged {
        /// Its point.
        point: Point,
        /// Both chains.
        changed: Box<ChangedValue>,
    },
    /// The links of a module were changed since its caller read them.
    #[error(transparent)]
    Changed(#[from] Changed),
    /// The call is not recorded, or no longer.
    #[error("No recorded call `{0}` of the extension point `{1}` at this hub node.")]
    UnknownCall(String, Point),
    /// The request names one call and a number of calls.
    #[error("In the body, `callId`: must not be combined with `last`.")]
    OneOrMany,
    /// The input does not fit the point.
    #[error("In the body, `input`: {0}.")]
    InvalidInput(String),
    /// A module's code could not be loaded; the reason is in the operator's log.
    #[error("could not load a module: {0}")]
    Load(#[from] hub_sandbox::LoadError),
    /// The sandbox failed; the reason is in the operator's log.
    #[error("could not prepare a module: {0}")]
    Sandbox(String),
    /// The caller may no longer do it.
    #[error(transparent)]
    Refused(#[from] ApiError),
    /// The network's quota is used up.
    #[error(transparent)]
    Quota(#[from] QuotaExceeded),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] hub_db::Error),
    /// The store of blobs failed.
    #[error(transparent)]
    Blob(BlobError),
    /// A stored chain is unreadable.
    #[error("could not read a stored chain: {0}")]
    Stored(#[from] serde_json::Error),
}

impl From<BlobError> for ModulesError {
    fn from(error: BlobError) -> Self {
        match error {
            BlobError::Database(error) => error.into(),
            BlobError::Quota(exceeded) => exceeded.into(),
            error => Self::Blob(error),
        }
    }
}

impl From<ModulesError> for ApiError {
    fn from(error: ModulesError) -> Self {
        let message = error.to_string();
        match error {
            ModulesError::InvalidName(_)
            | ModulesError::InvalidChain(_)
            | ModulesError::InvalidInput(_)
            | ModulesError::NothingToRetry(_)
            | ModulesError::OneOrMany => Self::invalid(message),
            ModulesError::InvalidConfig { .. } => Self::bad_request("invalid_config", message),
            ModulesError::GrantNeeded { needed, .. } => {
                let Grants { scopes, hosts, secrets, permission_nodes, commands } = *needed;
                let needed = Some(NeededGrants { scopes, hosts, secrets, permission_nodes, commands });
                Self::bad_request("grant_needed", message).details(ErrorDetails { needed, ..ErrorDetails::default() })
            }
            ModulesError::ForbiddenGrant(_) => Self::new(StatusCode::FORBIDDEN, "forbidden_scope", message),
            ModulesError::TryAgain => Self::new(StatusCode::SERVICE_UNAVAILABLE, "try_again", message).retry_after(1),
            ModulesError::UnknownDeadLetter(..) => Self::not_found("unknown_dead_letter", message),
            ModulesError::Running(_) | ModulesError::TickRunning(_) => {
                Self::new(StatusCode::CONFLICT, "running", message)
            }
            ModulesError::NotScheduled(_) => Self::new(StatusCode::CONFLICT, "not_active_at_schedules", message),
            ModulesError::NoTimers(_) => Self::new(StatusCode::CONFLICT, "no_timers", message),
            ModulesError::UnknownSchedule(..) => Self::not_found("unknown_schedule", message),
            ModulesError::UnknownTimer(..) => Self::not_found("unknown_timer", message),
            ModulesError::NotHandling(_) => Self::new(StatusCode::CONFLICT, "not_active_at_events", message),
            ModulesError::SecretMissing(_) => Self::bad_request("secret_missing", message),
            ModulesError::UnknownSecret(_) => Self::not_found("unknown_secret", message),
            ModulesError::SecretInUse(..) => Self::new(StatusCode::CONFLICT, "in_use", message),
            ModulesError::InvalidModule(_) => Self::bad_request("invalid_module", message),
            ModulesError::UnknownModule(_) => Self::not_found("unknown_module", message),
            ModulesError::UnknownVersion(..) => Self::bad_request("unknown_module", message),
            ModulesError::NotReady(..) => Self::bad_request("module_not_ready", message),
            ModulesError::PointNotOffered(..) => Self::bad_request("point_not_offered", message),
            ModulesError::FailedTrial { .. } => Self::bad_request("failed_trial", message),
            ModulesError::InUse(..) => Self::bad_request("module_in_use", message),
            ModulesError::UnknownPoint(_) => Self::not_found("unknown_point", message),
            ModulesError::UnknownRevision(..) => Self::not_found("unknown_revision", message),
            ModulesError::RevisionChanged { changed, .. } => {
                Self::new(StatusCode::CONFLICT, "revision_changed", message)
                    .details(ErrorDetails { changed: Some(changed), ..ErrorDetails::default() })
            }
            ModulesError::Changed(changed) => changed.into(),
            ModulesError::UnknownCall(..) => Self::not_found("unknown_call", message),
            ModulesError::TooManyUploads => {
                Self::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", message).retry_after(10)
            }
            ModulesError::Moving => Self::new(StatusCode::SERVICE_UNAVAILABLE, "moved", message).retry_after(1),
            ModulesError::UseActivation(_) => Self::bad_request("use_activation", message),
            ModulesError::NothingBefore(_) | ModulesError::NoActivationBefore(_) => {
                Self::bad_request("nothing_to_roll_back", message)
            }
            ModulesError::Refused(refusal) => refusal,
            ModulesError::Quota(exceeded) => exceeded.into(),
            ModulesError::Database(error) => error.into(),
            ModulesError::Blob(error) => error.into(),
            ModulesError::Load(_) | ModulesError::Sandbox(_) | ModulesError::Stored(_) => Self::internal(error),
        }
    }
}
