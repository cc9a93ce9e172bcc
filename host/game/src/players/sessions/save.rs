//! Saves of sessions: data, settled deliveries and the end of the session, all or none.

use std::collections::HashSet;

use hub_db::Tx;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::Caller;
use crate::deliveries::{self, ClaimText};
use crate::limits::{check_rows, check_storage, row_bytes};
use crate::player_sessions::service::{SaveTurn, begin_save_in, finish_save_in, note_end};
use crate::player_sessions::{Session, service as sessions};
use crate::players::model::{DataKey, JsonText};
use crate::players::service::{PlayersError, put_in};
use crate::players::store::data as store;
use crate::values::{Label, NetworkId, PlayerId};

/// Maximum number of namespaces in a save.
const MAX_ENTRIES: usize = 32;
/// Maximum number of claims in a save.
const MAX_CLAIMS: usize = 32;
/// Maximum size of all data of a save in bytes.
const MAX_BYTES: usize = 1024 * 1024;

/// A save of a session.
#[derive(Debug, Default)]
pub(in crate::players) struct SessionSave {
    pub(in crate::players) entries: Vec<(DataKey, JsonText)>,
    pub(in crate::players) claims: Vec<ClaimText>,
    pub(in crate::players) closes: bool,
    pub(in crate::players) number: Option<i64>,
}

/// A namespace that was written.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::players) struct SavedVersion {
    #[schema(example = "global")]
    game_mode: Label,
    #[schema(example = "inventory")]
    namespace: Label,
    /// New version of the data.
    #[schema(example = 3)]
    version: i64,
}

/// A save that was made.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub(in crate::players) struct SavedSession {
    /// Versions of the data, in the order of the request.
    versions: Vec<SavedVersion>,
    /// True if the session was closed.
    closed: bool,
}

impl SessionSave {
    /// Refuses more than a save may hold.
    pub(in crate::players) fn check(&self) -> Result<(), PlayersError> {
        if self.entries.len() > MAX_ENTRIES {
            return Err(PlayersError::InvalidSave(format!("`data`: must be at most {MAX_ENTRIES} entries")));
        }
        if self.claims.len() > MAX_CLAIMS {
            return Err(PlayersError::InvalidSave(format!("`complete`: must be at most {MAX_CLAIMS} claims")));
        }
        let mut places = HashSet::new();
        if !self.entries.iter().all(|(key, _)| places.insert((key.game_mode.as_str(), key.namespace.as_str()))) {
            return Err(PlayersError::InvalidSave("`data`: must name each namespace of a game mode once".to_owned()));
        }
        let is_too_large = |(_, data): &(DataKey, JsonText)| data.as_str().len() > JsonText::LIMIT;
        if self.entries.iter().any(is_too_large) {
            return Err(PlayersError::TooLarge);
        }
        if self.entries.iter().map(|(_, data)| data.as_str().len()).sum::<usize>() > MAX_BYTES {
            return Err(PlayersError::SaveTooLarge(MAX_BYTES));
        }
        Ok(())
    }

    /// Hash of all that the save says.
    fn digest(&self) -> Vec<u8> {
        let mut digest = Sha256::new();
        let mut add = |text: &str| {
            digest.update(text.len().to_be_bytes());
            digest.update(text);
        };
        for (key, data) in &self.entries {
            [key.game_mode.as_str(), key.namespace.as_str(), data.as_str()].into_iter().for_each(&mut add);
        }
        add("claims");
        self.claims.iter().for_each(|claim| add(claim.as_str()));
        add(if self.closes { "close" } else { "" });
        add(&self.number.map(|number| number.to_string()).unwrap_or_default());
        digest.finalize().to_vec()
    }
}

/// Saves under the fence of the player's open session. The last save once more gets its answer and changes nothing.
pub(in crate::players) async fn save(
    app: &App,
    caller: &Caller,
    player: PlayerId,
    fence: i64,
    save: &SessionSave,
) -> Result<SavedSession, PlayersError> {
    save.check()?;
    let network = caller.network;
    check_room(app, network, save).await?;
    let digest = save.digest();
    let turn = sessions::Save { player, fence, digest: &digest, number: save.number, caller };
    let (saved, ended) = app
        .db
        .transaction(async |mut tx| {
            let session = match begin_save_in(app, &mut tx, network, turn).await? {
                SaveTurn::Repeated(answer) => return Ok::<_, PlayersError>((parse(&answer)?, None)),
                SaveTurn::Due(session) => session,
            };
            let versions = write_data(app, &mut tx, network, save).await?;
            settle_claims(app, &mut tx, network, player, &session, &save.claims).await?;
            let saved = SavedSession { versions, closed: save.closes };
            let answer = write(&saved)?;
            finish_save_in(app, &mut tx, network, &session, turn, (&answer, save.closes)).await?;
            Ok((saved, save.closes.then_some(session)))
        })
        .await?;
    if let Some(session) = ended {
        note_end(app, network, &session);
    }
    Ok(saved)
}

fn write(saved: &SavedSession) -> Result<String, hub_db::Error> {
    Ok(serde_json::to_string(saved).map_err(|error| sqlx::Error::Encode(error.into()))?)
}

fn parse(answer: &str) -> Result<SavedSession, hub_db::Error> {
    Ok(serde_json::from_str(answer).map_err(|error| sqlx::Error::Decode(error.into()))?)
}

/// Refuses a save that exceeds the network's limits.
async fn check_room(app: &App, network: NetworkId, save: &SessionSave) -> Result<(), PlayersError> {
    if save.entries.is_empty() {
        return Ok(());
    }
    let are_there = async {
        for (key, _) in &save.entries {
            if store::get(&app.db, network, key).await?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    };
    let _adding =
        check_rows::<PlayersError>(app, network, store::DATA_ENTRIES, save.entries.len() as i64, are_there).await?;
    let bytes =
        |(key, data): &(DataKey, JsonText)| row_bytes(&[key.game_mode.as_str(), key.namespace.as_str(), data.as_str()]);
    let replaced = async {
        let mut replaced = 0;
        for (key, _) in &save.entries {
            replaced += store::stored_bytes(&app.db, network, key).await?;
        }
        Ok(replaced)
    };
    check_storage(app, network, save.entries.iter().map(bytes).sum(), replaced).await
}

async fn write_data(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    save: &SessionSave,
) -> Result<Vec<SavedVersion>, PlayersError> {
    let mut versions = Vec::with_capacity(save.entries.len());
    for (key, data) in &save.entries {
        let version = put_in(app, tx, network, key, data.as_str()).await?;
        versions.push(SavedVersion { game_mode: key.game_mode.clone(), namespace: key.namespace.clone(), version });
    }
    Ok(versions)
}

/// Settles the deliveries whose claims the save names, in its transaction.
async fn settle_claims(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    player: PlayerId,
    session: &Session,
    claims: &[ClaimText],
) -> Result<(), PlayersError> {
    if !claims.is_empty() {
        deliveries::service::complete_in(app, tx, network, player, &session.server_id, claims).await?;
    }
    Ok(())
}
