//! Sessions of a signed-in person.

use serde_json::json;

use crate::app::App;
use crate::audit::{self, Action, Change};
use crate::auth::{KeyCache, KeyId, OPERATOR_NETWORK, SignedIn};
use crate::people::service::{PeopleError, origin_of};
use crate::people::store::end_sessions;
use crate::people::store::sessions::{self as store, SessionRow};

/// Sessions of the person that last, newest first.
pub(in crate::people) async fn sessions(app: &App, who: &SignedIn) -> Result<Vec<SessionRow>, PeopleError> {
    Ok(store::list(&app.db, &who.person, app.clock.now()).await?)
}

/// Ends one of the person's sessions.
pub(in crate::people) async fn end_session(app: &App, who: &SignedIn, session: &str) -> Result<(), PeopleError> {
    app.db
        .transaction(async |mut tx| {
            if !store::end(&mut tx, &who.person, session, app.clock.now()).await? {
                return Err(PeopleError::UnknownSession(session.to_owned()));
            }
            let change = Change::new(Action::PersonSessionEnded, &who.person).before(json!({"sessionId": session}));
            Ok(audit::record(&mut tx, OPERATOR_NETWORK, &origin_of(app, who), change).await?)
        })
        .await?;
    app.state::<KeyCache>().invalidate(&KeyId(who.person.clone()));
    Ok(())
}

/// Ends all sessions of the person but this one.
pub(in crate::people) async fn end_other_sessions(app: &App, who: &SignedIn) -> Result<(), PeopleError> {
    app.db
        .transaction(async |mut tx| {
            end_sessions(&mut tx, &who.person, Some(&who.session), app.clock.now()).await?;
            let change = Change::new(Action::PersonSignedOutElsewhere, &who.person);
            audit::record(&mut tx, OPERATOR_NETWORK, &origin_of(app, who), change).await
        })
        .await?;
    app.state::<KeyCache>().invalidate(&KeyId(who.person.clone()));
    Ok(())
}
