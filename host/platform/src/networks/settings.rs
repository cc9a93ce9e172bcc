//! Settings of a network that its owner chooses.

use hub_db::Tx;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::audit::{self, Action, Change};
use crate::auth::Origin;
use crate::http::error::ApiError;
use crate::http::if_match::IfMatch;
use crate::limits;
use crate::networks::service::NetworksError;
use crate::networks::store;
use crate::plans::announce_network_change;
use crate::values::{Identifier, NetworkId};

/// Purpose of a network.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema, strum::EnumString, strum::IntoStaticStr,
)]
#[serde(rename_all = "UPPERCASE")]
#[strum(serialize_all = "UPPERCASE")]
#[schema(as = NetworkStage)]
pub enum Stage {
    /// Players play on it.
    Live,
    /// It is for trying things out.
    Test,
}

impl TryFrom<String> for Stage {
    type Error = strum::ParseError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

/// Settings of a network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema, sqlx::FromRow)]
#[serde(rename_all = "camelCase")]
pub(super) struct NetworkSettings {
    #[schema(value_type = String, example = "069a79f4-44e9-4726-a5be-fca90e38aaf5")]
    pub(super) network_id: NetworkId,
    #[schema(example = "example")]
    pub(super) name: String,
    #[sqlx(try_from = "String")]
    pub(super) stage: Stage,
    /// True if writes of a player's data without a fence are refused while the player has an open session.
    pub(super) sessions_required: bool,
    /// Days that chat lines are kept, at most those of the plan; 0: none are kept.
    #[schema(example = 7)]
    pub(super) chat_history_days: i64,
    /// True if members of the network must have a second factor.
    pub(super) require_second_factor: bool,
}

/// Changes of settings; a field that is absent or null keeps its value.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = NetworkSettingsUpdate)]
pub(super) struct SettingsUpdate {
    /// Unique name; an existing one is 400 `name_taken`.
    #[schema(value_type = Option<String>, example = "mynetwork")]
    pub(super) name: Option<Identifier>,
    pub(super) stage: Option<Stage>,
    /// Refuse writes of a player's data without a fence while the player has an open session.
    #[schema(example = true)]
    pub(super) sessions_required: Option<bool>,
    /// Days that chat lines are kept, at most those of the plan; 0: none are kept, and those there are go.
    #[schema(minimum = 0, maximum = 30, example = 7)]
    pub(super) chat_history_days: Option<i64>,
    /// Require a second factor of the network's members.
    #[schema(example = true)]
    pub(super) require_second_factor: Option<bool>,
}

/// A network's settings.
pub(super) async fn get(app: &App, network: NetworkId) -> Result<NetworkSettings, NetworksError> {
    let settings = store::settings(&app.db, network).await?.ok_or(NetworksError::UnknownNetwork(network))?;
    let most = limits::of(app, network).await?.max_chat_history_days();
    Ok(within(&settings, most))
}

/// Settings as they apply: the chat is kept for no longer than the plan says.
fn within(settings: &NetworkSettings, most: i64) -> NetworkSettings {
    NetworkSettings { chat_history_days: settings.chat_history_days.min(most), ..settings.clone() }
}

/// Changes a network's settings. Returns them.
pub(super) async fn update(
    app: &App,
    network: NetworkId,
    (update, expected): (SettingsUpdate, IfMatch),
    origin: &Origin,
) -> Result<NetworkSettings, NetworksError> {
    let most = limits::of(app, network).await?.max_chat_history_days();
    if update.chat_history_days.is_some_and(|days| !(0..=most).contains(&days)) {
        return Err(NetworksError::ChatHistoryDays(most));
    }
    let (is_changed, settings) = app
        .db
        .transaction(async |mut tx| {
            // The update locks the row before it is read, so that none is lost.
            origin.still_may(&mut tx).await?;
            let before = lock(&mut tx, network).await?;
            expected.check(Some(&within(&before, most))).map_err(ApiError::from)?;
            let name = update.name.as_ref().map(|name| name.as_str().to_owned());
            let after = NetworkSettings {
                name: name.unwrap_or_else(|| before.name.clone()),
                stage: update.stage.unwrap_or(before.stage),
                sessions_required: update.sessions_required.unwrap_or(before.sessions_required),
                chat_history_days: update.chat_history_days.unwrap_or(before.chat_history_days),
                require_second_factor: update.require_second_factor.unwrap_or(before.require_second_factor),
                ..before.clone()
            };
            if after != before {
                store::put_settings(&mut tx, &after).await.map_err(|error| {
                    if error.is_unique_violation() {
                        NetworksError::NameTaken(after.name.clone())
                    } else {
                        error.into()
                    }
                })?;
                let change = Change::new(Action::NetworkChanged, network).before(&before).after(&after);
                audit::record(&mut tx, network, origin, change).await?;
            }
            Ok::<_, NetworksError>((after != before, after))
        })
        .await?;
    if is_changed {
        // Sessions without the second factor that it may require from now on are refused at once.
        announce_network_change(app, network).await;
    }
    Ok(within(&settings, most))
}

async fn lock(tx: &mut Tx, network: NetworkId) -> Result<NetworkSettings, NetworksError> {
    store::lock_settings(tx, network).await?.ok_or(NetworksError::UnknownNetwork(network))
}
