//! The first operator of a new hub, made by whoever reads its log.

use serde_json::json;
use subtle::ConstantTimeEq as _;

use crate::app::App;
use crate::audit::{self, Action, Change};
use crate::auth::OPERATOR_NETWORK;
use crate::email::Email;
use crate::limits::Limits;
use crate::people::model::{PersonRow, TOKEN_LENGTH, hash};
use crate::people::service::sign_in::{Failures, Session, begin_session};
use crate::people::service::{NewPerson, PeopleError, Sender, generate_id, origin_of_person};
use crate::people::{People, password, store};

/// Code for a hub without people to make its first operator. Only its hash is kept, in memory: it ends with the process.
pub async fn first_operator_code(app: &App) -> Result<Option<String>, hub_db::Error> {
    if store::has_people(&app.db).await? {
        return Ok(None);
    }
    let code = app.ids.token(TOKEN_LENGTH);
    *app.state::<People>().first.lock() = Some(hash(&code));
    Ok(Some(code))
}

/// Creates the first operator and signs them in. The code works once.
pub(crate) async fn create_first_operator(
    app: &App,
    sender: &Sender,
    code: &str,
    email: &Email,
    new: NewPerson<'_>,
) -> Result<Session, PeopleError> {
    app.state::<Limits>().addresses.count_sign_in(sender.address, app.clock.now())?;
    let sent = hash(code.trim());
    let is_known = app.state::<People>().first.lock().as_ref().is_some_and(|known| known.ct_eq(&sent).into());
    if !is_known {
        return Err(PeopleError::UnknownToken);
    }
    let person = PersonRow {
        person_id: generate_id(&app.ids),
        email_folded: email.folded(),
        email: email.as_str().to_owned(),
        name: new.name.to_owned(),
        password_hash: Some(password::hash(app, new.password).await?),
        is_operator: true,
        totp_secret: None,
        totp_confirmed: false,
        created_at: app.clock.now(),
    };
    app.db
        .transaction(async |mut tx| {
            // Meanwhile somebody may have come in another way.
            if store::has_people(&mut tx).await? || !store::insert(&mut tx, &person).await? {
                return Err(PeopleError::UnknownToken);
            }
            let change = Change::new(Action::PersonCreated, &person.person_id)
                .after(json!({"email": person.email, "operator": true}));
            Ok(audit::record(&mut tx, OPERATOR_NETWORK, &origin_of_person(app, sender, &person), change).await?)
        })
        .await?;
    *app.state::<People>().first.lock() = None;
    let failures = Failures::of_account(&person.email_folded);
    begin_session(app, person, sender.address, &failures).await
}
