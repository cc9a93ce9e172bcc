//! Authentication: keys, scopes, and the extractors that state a route's permission.
//!
//! Invariants: of a key's secret only the SHA-256 is stored; a revoked, expired or replaced secret is refused
//! everywhere within a second, also by open streams; a key is refused outside its bindings; looking up a key never
//! waits for work of a network. `networks` creates and lists the keys. A person's session is a caller like a key:
//! `session` maps it to the same row.
//! Tables: `api_keys`, `persons`, `person_sessions`, `network_members` and `network_roles`, read here, with `networks` and
//! `network_moves`.

mod bindings;
mod cache;
mod caller;
pub mod key;
mod layer;
mod model;
pub mod moves;
mod origin;
mod revocation;
mod role;
mod service;
mod session;
mod still;
mod store;

pub use bindings::{AddressRange, Bindings};
pub use cache::KeyCache;
pub use caller::{
    AddressesWrite, Agent, AuditRead, Caller, ChatRead, ConsoleRead, DeliveriesManage, DeliveriesRead, DeliveriesWrite,
    EconomyWrite, EventsRead, LinesManage, Matchmaking, ModulesRead, ModulesWrite, NetworkManage, OnlinePlayersRead,
    Operator, OverviewRead, Permission, PermissionsWrite, PlayTimeRead, PlayerPunishmentsRead, PlayerRecordsRead,
    PlayersRead, PlayersWrite, Plugin, PunishmentsManage, PunishmentsWrite, ReportsManage, SearchRead, ServersControl,
    ServersRead, Unbound,
};
pub use layer::{CountedElsewhere, identify, layer};
pub use model::Credential;
pub use model::KeyRow;
pub use model::{KeyId, Scope, Scopes};
pub use origin::{Actor, ActorType, AuditOrder, Origin};
pub use revocation::RevocationWatch;
pub use role::{Role, RoleName};
pub use service::{is_by_key, moved_to, revoked, start, stop};
pub use session::{SessionToken, SignedIn, csrf_token, session_cookie};
pub use store::select_key;

pub use crate::values::OPERATOR_NETWORK;
