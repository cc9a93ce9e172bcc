//! Puts profiles together.

use crate::app::App;
use crate::deliveries;
use crate::http::answer::{ANSWER_LIMIT, json_size};
use crate::http::error::ApiError;
use crate::permissions;
use crate::players::includes::{Included, IncludedSession, Includes, StoredData, VersionedData};
use crate::players::model::Profile;
use crate::players::service;
use crate::punishments::{self, Identity, IpAddress, PunishmentBody, PunishmentFilter};
use crate::statistics;
use crate::values::{Label, NetworkId, PlayerId};

/// Reads the areas that a load includes. The profile already has the balances and the data.
pub(super) async fn include(
    app: &App,
    network: NetworkId,
    includes: &Includes,
    profile: &Profile,
    game_mode: &Label,
    address: Option<IpAddress>,
) -> Result<Included, ApiError> {
    let player = profile.player.player_uuid;
    let (permissions, punishments, language, statistics, session, deliveries) = tokio::try_join!(
        wanted(includes.permissions, async { Ok(permissions::service::effective_body(app, network, player).await?) }),
        wanted(includes.punishments, active_punishments(app, network, player, address)),
        wanted(includes.language, async { Ok(service::language(app, network, player).await?.into()) }),
        wanted(includes.statistics, statistics::player_statistics(app, network, player, game_mode)),
        wanted(includes.session, async { Ok(IncludedSession(service::session(app, network, player).await?)) }),
        wanted(includes.deliveries, async { Ok(deliveries::service::offered(app, network, player).await?) }),
    )?;
    let data = includes.data.as_ref().map(|namespaces| {
        let stored = |namespace: &Label| {
            let found = profile.namespaces.iter().find(|it| it.namespace == namespace.as_str())?;
            Some(VersionedData { data: found.data.clone(), version: found.version })
        };
        namespaces.iter().map(|namespace| (namespace.to_string(), StoredData(stored(namespace)))).collect()
    });
    let balances = includes.balances.then(|| profile.currencies.clone());
    Ok(Included { permissions, punishments, language, balances, statistics, session, deliveries, login: None, data })
}

async fn wanted<T>(
    is_wanted: bool,
    read: impl Future<Output = Result<T, ApiError>> + Send,
) -> Result<Option<T>, ApiError> {
    if is_wanted { read.await.map(Some) } else { Ok(None) }
}

async fn active_punishments(
    app: &App,
    network: NetworkId,
    player: PlayerId,
    address: Option<IpAddress>,
) -> Result<Vec<PunishmentBody>, ApiError> {
    let identity = Identity { player: Some(player), name: None, address };
    let limit = punishments::service::MAX_ANSWERED as i64;
    let filter = PunishmentFilter { active_only: true, since: None, kind: None, limit, offset: 0, prefers_bans: true };
    let found = punishments::service::find(app, network, &identity, &filter).await?;
    let now = app.clock.now();
    Ok(found.into_iter().map(|punishment| PunishmentBody::new(app, punishment, now)).collect())
}

/// Refuses an answer that is too large.
pub(super) fn check_size(answer: &impl serde::Serialize) -> Result<(), ApiError> {
    if json_size(answer) > ANSWER_LIMIT {
        return Err(ApiError::bad_request(
            "answer_too_large",
            "The answer would be too large; include fewer areas and read the others from their own routes.",
        ));
    }
    Ok(())
}
