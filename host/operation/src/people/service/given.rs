//! Accounts of `hub demo`, made again at each of its starts because a password is shown only once.

use hub_db::Db;
use serde_json::json;

use crate::audit::{self, Action, Change};
use crate::auth::{OPERATOR_NETWORK, Origin, Role};
use crate::email::Email;
use crate::http::error::ApiError;
use crate::people::model::{Password, PersonRow};
use crate::people::service::{PeopleError, generate_id};
use crate::people::{password, store};
use crate::secret_text::SecretText;
use crate::values::NetworkId;

/// Creates a person, or gives an existing one a new password and ends their sessions: a member of a network with a role,
/// or without one an operator. Returns the password.
pub async fn give_account(
    db: &Db,
    origin: &Origin,
    email: &Email,
    name: &str,
    member: Option<(NetworkId, Role)>,
) -> Result<SecretText, PeopleError> {
    let text = origin.ids.token(16);
    let hashed = password::hash_now(&origin.ids, Password::generated(text.clone()).expose());
    let hashed = hashed.map_err(|error| ApiError::internal(std::io::Error::other(error.to_string())))?;
    let now = origin.clock.now();
    let new = PersonRow {
        person_id: generate_id(&origin.ids),
        email_folded: email.folded(),
        email: email.as_str().to_owned(),
        name: name.to_owned(),
        password_hash: Some(hashed.clone()),
        is_operator: member.is_none(),
        totp_secret: None,
        totp_confirmed: false,
        created_at: now,
    };
    db.transaction(async |mut tx| {
        let id = if let Some(person) = store::find_by_email(&mut tx, &new.email_folded).await? {
            store::set_password(&mut tx, &person.person_id, &hashed).await?;
            store::end_sessions(&mut tx, &person.person_id, None, now).await?;
            person.person_id
        } else {
            store::insert(&mut tx, &new).await?;
            new.person_id.clone()
        };
        let change = Change::new(Action::PersonCreated, &id);
        let (network, change) = match member {
            Some((network, role)) => {
                store::put_member(&mut tx, network, &id, role, (now, None)).await?;
                (network, change.after(json!({"email": new.email, "role": role})))
            }
            None => (OPERATOR_NETWORK, change.after(json!({"email": new.email, "operator": true}))),
        };
        Ok::<_, PeopleError>(audit::record(&mut tx, network, origin, change).await?)
    })
    .await?;
    Ok(text.into())
}
