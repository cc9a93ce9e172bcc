//! Rules of people.

mod account;
mod devices;
mod error;
mod first;
mod given;
mod invitations;
mod left;
mod members;
mod openid;
mod roles;
mod second_factor;
mod sessions;
mod sign_in;

pub use account::create_operator;
pub(super) use account::{Me, change_password, lose_password, me, reset_password, sign_out, sign_out_everywhere};
pub(super) use devices::{DeviceSignIn, begin_device, decide_device, device_of_code, finish_device};
pub(super) use error::PeopleError;
pub(super) use first::create_first_operator;
pub use first::first_operator_code;
pub use given::give_account;
pub(crate) use invitations::invite_by_operator;
pub(super) use invitations::{NewPerson, accept, delete_invitation, invitations, invite, invite_as_operator, join};
pub use left::GivenRoles;
pub(crate) use members::owner_addresses;
pub(super) use members::{Member, change_role, delete_person, members, persons, remove};
pub(super) use openid::{Callback, SignedInByOpenId, begin_openid, finish_openid, finish_openid_with_code};
pub(super) use roles::{OwnRole, delete_role, put_role, role, roles};
pub use second_factor::reseal_second_factors;
pub(super) use second_factor::{Enrollment, confirm, disable, enroll};
pub(super) use sessions::{end_other_sessions, end_session, sessions};
pub(super) use sign_in::{Attempt, Session, sign_in};

use std::net::IpAddr;

use crate::app::App;
use crate::auth::{Actor, ActorType, AuditOrder, Origin, SignedIn};
use crate::http::request_id::RequestId;
use crate::ids::Ids;
use crate::people::model::{ID_LENGTH, PersonRow};

/// Origin of a request without a session.
#[derive(Clone, Debug)]
pub struct Sender {
    pub address: IpAddr,
    pub request_id: Option<RequestId>,
}

/// Random id distinct from keys' ids.
fn generate_id(ids: &Ids) -> String {
    format!("p_{}", ids.token(ID_LENGTH))
}

/// Origin in the audit log for a person's change.
fn origin_of(app: &App, who: &SignedIn) -> Origin {
    let actor = Actor { kind: ActorType::Person, id: who.person.clone(), name: who.email.clone() };
    origin(app, who.remote, who.request_id.as_ref(), actor)
}

/// Origin in the audit log for the holder of a mail's token.
fn origin_of_person(app: &App, sender: &Sender, person: &PersonRow) -> Origin {
    let actor = Actor { kind: ActorType::Person, id: person.person_id.clone(), name: person.email.clone() };
    origin(app, sender.address, sender.request_id.as_ref(), actor)
}

fn origin(app: &App, remote: IpAddr, request_id: Option<&RequestId>, actor: Actor) -> Origin {
    let order = Some(app.state::<AuditOrder>().handle());
    let request_id = request_id.map(|id| id.as_str().to_owned());
    Origin {
        actor,
        request_id,
        address: Some(remote),
        clock: app.clock.clone(),
        ids: app.ids.clone(),
        order,
        holder: None,
    }
}
