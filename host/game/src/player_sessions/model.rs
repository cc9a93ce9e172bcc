//! Sessions in the database and in events.

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Millis;
use crate::values::{Identifier, PlayerId};

/// State of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema, strum::EnumString, strum::IntoStaticStr)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
#[schema(as = PlayerSessionState)]
pub enum SessionState {
    /// Its server may write.
    Open,
    /// Ended by its server.
    Closed,
    /// Ended for another server, or by a restored snapshot.
    TakenOver,
    /// Ended because its server went offline or its player was on no server.
    Lost,
}

impl SessionState {
    /// Name in the API and the database.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

impl TryFrom<String> for SessionState {
    type Error = strum::ParseError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

/// State of the session before a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schema(as = PreviousSessionState)]
pub enum PreviousState {
    /// Its server closed it.
    Closed,
    /// It was ended for another server, or by a restored snapshot.
    TakenOver,
    /// Its server went offline, or its player was on no server.
    Lost,
    /// The same server had it open.
    SameServer,
}

/// A player's newest session.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct Session {
    pub player_uuid: PlayerId,
    pub fence: i64,
    pub server_id: Identifier,
    #[sqlx(try_from = "String")]
    pub state: SessionState,
    pub opened_at: Millis,
    pub ended_at: Option<Millis>,
    /// False if an older copy took the database's place since: nobody may use its fence.
    pub is_current: bool,
}

impl Session {
    /// True until it ends.
    pub fn is_open(&self) -> bool {
        self.state == SessionState::Open
    }
}

/// A session with its last save.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct SavedSession {
    #[sqlx(flatten)]
    pub session: Session,
    /// Hash of all that the last save said.
    pub saved_digest: Option<Vec<u8>>,
    /// Highest number of its saves.
    pub saved_number: Option<i64>,
    pub saved_answer: Option<String>,
}

/// Decision about a save.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SaveDecision {
    /// It is the last save once more, and has its answer.
    Repeated,
    /// It is to be made.
    Due,
    /// Its fence is not that of the open session.
    StaleSession,
    /// One with this number or a higher one was made before.
    StaleSave,
}

impl SavedSession {
    /// Decides about a save. `is_lost` if the session is open but lost.
    pub fn decide(&self, fence: i64, digest: &[u8], number: Option<i64>, is_lost: bool) -> SaveDecision {
        let Session { state, .. } = self.session;
        let is_open = state == SessionState::Open && !is_lost;
        let is_last = self.saved_digest.as_deref() == Some(digest) && self.saved_answer.is_some();
        if self.session.fence != fence || !(is_open || state == SessionState::Closed && is_last) {
            return SaveDecision::StaleSession;
        }
        if is_last {
            return SaveDecision::Repeated;
        }
        match number.zip(self.saved_number) {
            Some((number, saved)) if number <= saved => SaveDecision::StaleSave,
            _ => SaveDecision::Due,
        }
    }
}

/// Event to the server that holds a session: save it and close it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionRequest {
    pub(super) player_uuid: PlayerId,
    /// Fence of the session to close.
    #[schema(example = 41)]
    pub(super) fence: i64,
    /// Server that asks for the player.
    #[schema(example = "bedwars-1")]
    pub(super) server_id: Identifier,
    /// Time at which the session ends if it is not closed.
    #[schema(example = 1_804_680_000_000_i64)]
    pub(super) deadline: Millis,
}

/// Event to a server whose session was ended by others.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionEnd {
    pub(super) player_uuid: PlayerId,
    /// Fence of the session that ended.
    #[schema(example = 41)]
    pub(super) fence: i64,
}
