//! `/api/manage/people`, `/api/admin/people` and `/api/people`.

mod account;
mod admin;
mod devices;
mod manage;
mod openid;
mod roles;
mod sessions;
mod sign_in;

use crate::endpoints::{Endpoints, endpoints, public_endpoints};

/// Routes of owners and of the operator.
pub(super) fn router() -> Endpoints {
    endpoints![
        manage::list,
        manage::invite: transactional,
        manage::change,
        manage::remove,
        manage::list_invitations,
        manage::delete_invitation,
        roles::list,
        roles::read,
        roles::put,
        roles::delete,
        admin::list,
        admin::invite: transactional,
        admin::delete,
        admin::list_invitations,
        admin::delete_invitation,
        admin::list_of_network,
        admin::invite_to_network: transactional,
        admin::remove_from_network,
        admin::list_invitations_of_network,
        admin::delete_invitation_of_network,
    ]
}

/// Routes that need no key, or a session of any network: each checks that by itself.
pub(super) fn public() -> Endpoints {
    public_endpoints![
        sign_in::sign_in,
        sign_in::accept,
        sign_in::create_first_operator,
        sign_in::lose_password,
        sign_in::reset_password,
        openid::begin,
        openid::finish,
        openid::finish_with_code,
        devices::begin,
        devices::read,
        devices::decide,
        devices::finish,
        account::me,
        account::join,
        account::sign_out,
        account::sign_out_everywhere,
        sessions::list,
        sessions::end,
        sessions::end_others,
        account::change_password,
        account::enroll,
        account::confirm,
        account::disable,
    ]
}
