//! People: invited to networks by mail, they sign in and act by the role that each network gave them.
//!
//! Invariants: of a password only its argon2id hash is stored, of tokens and recovery codes only their SHA-256;
//! passwords are hashed on separate threads, few at a time; wrong ones are counted by account, known or not, and by
//! address; answers do not reveal the existence of accounts; no one grants a role above their own, or makes one; a role that a member or an invitation has is not deleted; a password reset
//! ends all sessions.
//! Tables: `persons`, `person_openid_subjects`, `person_sessions`, `person_recovery_codes`, `pending_sign_ins`,
//! `device_sign_ins`, `sign_in_failures`, which belong to the hub; `network_members`, `network_roles` and `person_links`, which belong to networks. `auth` reads those that identify
//! callers.

mod model;
mod openid;
mod password;
mod routes;
mod sender;
pub mod service;
mod store;

pub use service::reseal_second_factors;

use std::time::Duration;

use parking_lot::Mutex;

use crate::app::App;
use crate::background::every_settled;
use crate::component::column::{read, text, text_by};
use crate::component::{Component, ErrorCode, Now, TableRule, Tag, Undo, UndoBy};
use crate::config::Settings;
use crate::limits::{Limit, LimitRow};
use crate::people::openid::Provider;
use crate::people::password::Hashing;

/// Roles of a network's own.
const ROLES: Limit =
    Limit::new(&LimitRow { name: "roles", bound: 50, counted: "Roles of a network's own.", effect: None });

const ROLE: &str = "/api/manage/roles/{name}";
/// Changes that can be undone.
const UNDOS: &[Undo] = &[
    Undo {
        action: "role.put",
        target: &["name"],
        fields: &["scopes"],
        route: ROLE,
        changes: UndoBy::Put,
        deletes: true,
        now: Now::alone(ROLE),
    },
    Undo {
        action: "role.deleted",
        target: &["name"],
        fields: &["scopes"],
        route: ROLE,
        changes: UndoBy::Put,
        deletes: false,
        now: Now::alone(ROLE),
    },
    Undo {
        action: "member.changed",
        target: &["personId"],
        fields: &["role"],
        route: "/api/manage/people/{personId}",
        changes: UndoBy::Patch,
        deletes: false,
        now: Now::among("/api/manage/people?limit=200", "personId", "personId"),
    },
];

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "a network's staff: invitations, roles, sign-in ([people](../operate/people.md))",
    tags: &[Tag("People", "A network's staff: invitations, roles, sign-in.")],
    routes: || routes::router().database_only().merge(routes::public()),
    tables: &[
        TableRule::hub("persons"),
        TableRule::hub("person_openid_subjects"),
        TableRule::hub("person_sessions").not_backed_up("people sign in again"),
        TableRule::hub("pending_sign_ins").not_backed_up("people sign in again"),
        TableRule::hub("device_sign_ins").not_backed_up("codes of the last minutes"),
        TableRule::hub("person_recovery_codes"),
        TableRule::hub("sign_in_failures").not_backed_up("wrong passwords in the last minutes"),
        // People belong to the hub and do not move with a network: they are invited again.
        TableRule::left("network_members").without_players("the owner's staff, by their accounts"),
        TableRule::left("person_links").without_players("links in mails to them").not_backed_up("they are sent again"),
        TableRule::moved("network_roles").without_players("sets of scopes").columns(&[
            read::<crate::auth::RoleName>("name"),
            text_by("scopes", model::read_role_scopes),
            text::<255>("created_by"),
        ]),
    ],
    errors: &[
        ErrorCode::new("wrong_credentials", &[401], "Wrong address, password or code."),
        ErrorCode::new(
            "second_factor_needed",
            &[401],
            "The password is correct; a second factor code is also required.",
        ),
        ErrorCode::new("unknown_person", &[404], "No such person."),
        ErrorCode::new("unknown_invitation", &[404], "No such invitation."),
        ErrorCode::new("unknown_role", &[400, 404], "No such role, neither given nor of the network's own."),
        ErrorCode::new("role_reserved", &[400], "The name of a given role, in any case."),
        ErrorCode::new("person_exists", &[400], "An account with this address exists: sign in and join."),
        ErrorCode::new("already_member", &[400], "A member with this address already exists."),
        ErrorCode::new("invited_lately", &[400], "This address was recently invited; try again in ten minutes."),
        ErrorCode::new("second_factor_missing", &[400], "No second factor waits for confirmation."),
        ErrorCode::new("second_factor_enabled", &[400], "A second factor is already enabled; disable it first."),
        ErrorCode::new("no_password", &[400], "The account has no password: it signs in by OpenID Connect."),
        ErrorCode::new("openid_not_set_up", &[404], "No OpenID provider is configured."),
        ErrorCode::new(
            "openid_unavailable",
            &[503],
            "The OpenID provider is unreachable or returned an invalid response; try again.",
        ),
        ErrorCode::new(
            "openid_sign_in_ended",
            &[400],
            "The sign-in began in another browser, has already ended, or took too long.",
        ),
        ErrorCode::new("openid_state_wrong", &[400], "The provider's response belongs to another sign-in."),
        ErrorCode::new("openid_refused", &[403], "The provider refused the sign-in; see the message."),
        ErrorCode::new("openid_code_refused", &[400], "The provider reports the code as used or expired."),
        ErrorCode::new(
            "openid_token_invalid",
            &[403],
            "The provider's ID token is not valid for this sign-in; see the message.",
        ),
        ErrorCode::new("openid_email_unverified", &[403], "The provider has not verified the person's address."),
        ErrorCode::new(
            "openid_subject_differs",
            &[403],
            "The account with this address belongs to another person at the provider.",
        ),
        ErrorCode::new("not_invited", &[403], "No account with this address, and no invitation was given."),
        ErrorCode::new("unknown_token", &[400], "The link or the code is invalid."),
        ErrorCode::new("device_pending", &[400], "Nobody has decided about the device's sign-in yet."),
        ErrorCode::new("device_refused", &[403], "The person refused the device's sign-in, or has signed out."),
    ],
    limits: &[ROLES],
    creations: Some(&service::GivenRoles),
    register: |states, opening| {
        states.insert(People::open(opening.settings)?);
        Ok(())
    },
    background: start,
    undos: UNDOS,
    ..Component::new(module_path!())
};

const SWEEP_INTERVAL: Duration = Duration::from_mins(10);

/// State of the component in memory.
#[derive(Debug)]
pub struct People {
    hashing: Hashing,
    /// The OpenID provider, if the operator configured one.
    openid: Option<Provider>,
    /// Hash of the code for the first operator, until it is used.
    first: Mutex<Option<Vec<u8>>>,
}

impl People {
    /// # Errors
    /// Fails if the settings of the OpenID provider are incomplete or wrong.
    pub fn open(settings: &Settings) -> anyhow::Result<Self> {
        Ok(Self { hashing: Hashing::default(), openid: Provider::new(settings)?, first: Mutex::default() })
    }
}

/// Starts the background work.
fn start(app: &App) {
    sender::start(app);
    every_settled(app, SWEEP_INTERVAL, "delete expired sessions and links", async |app: App, settled| {
        store::delete_ended(&app.db, settled).await
    });
}
