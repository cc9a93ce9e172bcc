//! `/api/plugin/matchmaking/find`.

use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use serde::{Deserialize, Deserializer, Serialize, de};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::app::App;
use crate::auth::{Caller, Matchmaking, NetworkManage, Permission, Scope};
use crate::endpoints::{Endpoints, endpoints};
use crate::geo::Region;
use crate::http::error::ApiError;
use crate::http::extract::{Json, Query};
use crate::matchmaking::explanation::Explanation;
use crate::matchmaking::model::{Affinity, Destination, Match, MatchRequest, MatchResult, Mode};
use crate::matchmaking::reserve::check_reservations;
use crate::matchmaking::{explain, find, regions};
use crate::presence::{LiveServer, World};
use crate::values::{Identifier, PlayerId, blank_as_absent};

/// Maximum number of players of one match.
const MAX_PARTY: usize = 16;

/// The routes of matchmaking.
pub(crate) fn router() -> Endpoints {
    endpoints![find_match, regions::regions]
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = MatchRequest)]
pub(crate) struct FindRequest {
    /// Player to match. If absent, no current server is excluded and the slot is anonymous.
    pub(crate) player_uuid: Option<PlayerId>,
    #[serde(default, deserialize_with = "blank_as_absent")]
    pub(crate) player_name: Option<Identifier>,
    /// The player's party: all get slots on the same server or world, or none does. At most 16 players including
    /// `playerUuid`, whether listed or not.
    #[serde(default, deserialize_with = "party_members")]
    #[schema(value_type = Option<Vec<PlayerId>>, max_items = 16, example = json!(["853c80ef-3c37-49fd-aa49-938b674adae6"]))]
    pub(crate) party: Vec<PlayerId>,
    /// Server type: the match is the best server of this type, unless other fields say more.
    #[schema(example = "bedwars")]
    pub(crate) server_type: Option<Identifier>,
    /// With `serverType`: the match is the best world of this type on those servers.
    pub(crate) world_type: Option<Identifier>,
    /// Direct join of this server.
    pub(crate) server_id: Option<Identifier>,
    /// With `serverId`: direct join of this world on it.
    pub(crate) world_id: Option<Identifier>,
    /// The player's region. Default: the region of the address they last loaded with.
    #[serde(default, deserialize_with = "blank_as_absent")]
    pub(crate) region: Option<Region>,
    /// With the other two `affinity` fields: owner of the preferred live world.
    #[serde(default, deserialize_with = "blank_as_absent")]
    pub(crate) affinity_game_id: Option<Identifier>,
    /// See `affinityGameId`.
    #[serde(default, deserialize_with = "blank_as_absent")]
    pub(crate) affinity_owner_scope: Option<Identifier>,
    /// See `affinityGameId`.
    #[serde(default, deserialize_with = "blank_as_absent")]
    pub(crate) affinity_owner_id: Option<Identifier>,
    /// Requires `serverId` to be set; `serverId` alone has the same effect.
    pub(crate) direct_join: Option<bool>,
    /// Matches a world; without `worldType`, one of any type.
    pub(crate) world_matchmaking: Option<bool>,
}

/// Removes duplicates.
pub(crate) fn party_members<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<PlayerId>, D::Error> {
    let mut members = Option::<Vec<PlayerId>>::deserialize(deserializer)?.unwrap_or_default();
    members.sort_unstable();
    members.dedup();
    if members.len() > MAX_PARTY {
        return Err(too_many_members());
    }
    Ok(members)
}

fn too_many_members<E: de::Error>() -> E {
    de::Error::custom(format_args!("must be at most {MAX_PARTY} players, including the one to match"))
}

impl FindRequest {
    pub(crate) fn into_request(self) -> Result<MatchRequest, ApiError> {
        let mut party = self.party;
        party.retain(|member| Some(*member) != self.player_uuid);
        if party.len() + usize::from(self.player_uuid.is_some()) > MAX_PARTY {
            let reason = too_many_members::<de::value::Error>();
            return Err(ApiError::invalid(format!("In the body, `party`: {reason}.")));
        }
        let mode = match (self.server_id, self.server_type) {
            (Some(server_id), _) => Mode::Direct(Destination { server_id, world_id: self.world_id }),
            (None, _) if self.world_id.is_some() || self.direct_join == Some(true) => {
                return Err(ApiError::invalid("In the body, `serverId`: required for a direct join."));
            }
            (None, Some(server_type)) if self.world_type.is_some() || self.world_matchmaking == Some(true) => {
                Mode::World { server_type, world_type: self.world_type }
            }
            (None, Some(server_type)) => Mode::Server { server_type },
            (None, None) => {
                return Err(ApiError::invalid(
                    "Missing target: send `serverType`, `serverType` and `worldType`, or `serverId`.",
                ));
            }
        };
        Ok(MatchRequest {
            player: self.player_uuid,
            party,
            player_name: self.player_name,
            region: self.region,
            affinity: Affinity {
                game_id: self.affinity_game_id,
                owner_scope: self.affinity_owner_scope,
                owner_id: self.affinity_owner_id,
            },
            mode,
        })
    }
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Match)]
pub(crate) struct MatchAnswer {
    success: bool,
    result: MatchResult,
    /// Human-readable reason; null on success.
    error_message: Option<String>,
    /// Only of tickets that the network's modules refused: their reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "You can't join games right now.")]
    reason: Option<String>,
    /// Destination server.
    matched_server: Option<LiveServer>,
    /// Destination world, if a world was requested.
    matched_world: Option<World>,
    /// Id of the slot, which is reserved for 15 seconds.
    #[schema(example = "0b0cbd8c-8d1f-4c1e-a3c5-6a4f1cbf8c5e")]
    transfer_id: Option<Uuid>,
    /// True if the requested owner's world was live.
    warm: bool,
    /// Only with `explain=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    explanation: Option<Explanation>,
}

impl MatchAnswer {
    pub(crate) fn new(matched: Match, explanation: Option<Explanation>) -> Self {
        Self {
            success: matched.result == MatchResult::Success,
            result: matched.result,
            error_message: matched.reason,
            reason: None,
            matched_server: matched.server,
            matched_world: matched.world,
            transfer_id: matched.transfer,
            warm: matched.warm,
            explanation,
        }
    }

    /// Result that ended a ticket.
    pub(crate) fn of_ticket(matched: Match) -> Self {
        let is_rejected = matched.result == MatchResult::PolicyRejected;
        let reason = matched.reason.clone().filter(|_| is_rejected);
        Self { reason, ..Self::new(matched, None) }
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct FindQuery {
    /// Explain the result and reserve no slot. Requires the scope `network:manage`.
    explain: Option<bool>,
}

/// The caller of a match: a connector; with `explain`, the network's owner.
#[derive(Clone, Debug)]
struct Finder {
    caller: Caller,
    explain: bool,
}

impl Permission for Finder {
    const SCOPES: &'static [Scope] = Matchmaking::SCOPES;

    fn into_caller(self) -> Caller {
        self.caller
    }
}

impl FromRequestParts<App> for Finder {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let asked = Query::<FindQuery>::from_request_parts(parts, app).await;
        let explain = asked.as_ref().is_ok_and(|Query(query)| query.explain == Some(true));
        let caller = if explain {
            NetworkManage::from_request_parts(parts, app).await?.0
        } else {
            Matchmaking::from_request_parts(parts, app).await?.0
        };
        // A missing permission is reported before a malformed query.
        asked?;
        Ok(Self { caller, explain })
    }
}

/// Find a server or world for a player
///
/// `serverType` alone finds the best server of that type; with `worldType`, or with `worldMatchmaking` for any type,
/// the best world on those servers; `serverId`, with or without `worldId`, is a direct join, which is only checked. A
/// match reserves a slot for 15 seconds under its `transferId`: the player's join uses it, another match of the player
/// releases it. With `party`, one slot per player, all on that server or world. No match is not an error: `success` is
/// false and `result` is the reason. Slots that players in waiting lines could use are taken.
#[utoipa::path(post, path = "/api/plugin/matchmaking/find", tag = "Matchmaking", security(("apiKey" = ["matchmaking", "plugin"])),
    params(FindQuery), responses((status = 200, body = MatchAnswer)))]
async fn find_match(
    finder: Finder,
    State(app): State<App>,
    Json(body): Json<FindRequest>,
) -> Result<Json<MatchAnswer>, ApiError> {
    let network = finder.caller.network;
    let request = body.into_request()?;
    check_reservations(&app, network, 1 + request.party.len())?;
    Ok(Json(if finder.explain {
        let (matched, explanation) = explain::explain(&app, network, &request).await?;
        MatchAnswer::new(matched, Some(explanation))
    } else {
        MatchAnswer::new(find::find(&app, network, &request).await?, None)
    }))
}
