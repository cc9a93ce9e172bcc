//! Optional parts of a load's answer.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, de};
use utoipa::ToSchema;

use crate::auth::{Caller, Scope};
use crate::deliveries::DeliveryBody;
use crate::economy::Balance;
use crate::http::error::{ApiError, LoginVerdict};
use crate::permissions::EffectiveBody;
use crate::player_sessions::PlayerSession;
use crate::players::language::PlayerLanguage;
use crate::punishments::PunishmentBody;
use crate::statistics::PlayerStatistics;
use crate::values::Label;

/// Areas to include, as named in the query.
#[expect(clippy::struct_excessive_bools, reason = "each is included or not")]
#[derive(Clone, Debug, Default)]
pub(super) struct Includes {
    pub(super) permissions: bool,
    pub(super) punishments: bool,
    pub(super) language: bool,
    pub(super) balances: bool,
    pub(super) statistics: bool,
    pub(super) session: bool,
    pub(super) deliveries: bool,
    pub(super) login: bool,
    /// None if no namespace is named.
    pub(super) data: Option<Vec<Label>>,
}

impl Includes {
    fn parse(text: &str) -> Result<Self, String> {
        let mut includes = Self::default();
        for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            includes.add(name)?;
        }
        Ok(includes)
    }

    /// Areas that are named one by one.
    pub(super) fn of(names: &[String]) -> Result<Self, String> {
        let mut includes = Self::default();
        for name in names {
            includes.add(name.trim())?;
        }
        Ok(includes)
    }

    fn add(&mut self, name: &str) -> Result<(), String> {
        match name {
            "permissions" => self.permissions = true,
            "punishments" => self.punishments = true,
            "language" => self.language = true,
            "balances" => self.balances = true,
            "statistics" => self.statistics = true,
            "session" => self.session = true,
            "deliveries" => self.deliveries = true,
            "login" => self.login = true,
            _ => {
                let namespace = name.strip_prefix("data:").ok_or_else(|| {
                    format!(
                        "`{name}` is not one of permissions, punishments, language, balances, statistics, session, \
                         deliveries, login and data:NAMESPACE"
                    )
                })?;
                self.data.get_or_insert_default().push(namespace.parse()?);
            }
        }
        Ok(())
    }

    /// Refuses a caller without the scope of one of the areas.
    pub(super) fn check_scopes(&self, caller: &Caller) -> Result<(), ApiError> {
        let areas = [
            (self.permissions, Scope::PermissionsWrite),
            (self.punishments, Scope::PunishmentsWrite),
            (self.balances, Scope::EconomyWrite),
            (self.deliveries, Scope::DeliveriesWrite),
        ];
        let mut included = areas.into_iter().filter(|(is_included, _)| *is_included);
        included.try_for_each(|(_, scope)| caller.require(&[scope, Scope::Plugin]))
    }
}

impl<'de> Deserialize<'de> for Includes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

/// A namespace's data and its version.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct VersionedData {
    /// JSON text as written.
    #[schema(example = r#"{"coins":5}"#)]
    pub(super) data: String,
    /// Version to send in the next write.
    #[schema(example = 3)]
    pub(super) version: i64,
}

/// Data of a namespace; null if nothing is stored.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct StoredData(pub(super) Option<VersionedData>);

/// The player's newest session; null if there never was one.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct IncludedSession(pub(super) Option<PlayerSession>);

/// Included areas, each in the form of its own route.
#[derive(Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = LoadIncludes)]
pub(super) struct Included {
    /// With `include=permissions`: effective permissions without any context.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) permissions: Option<EffectiveBody>,
    /// With `include=punishments`: those in force for the player and, with `ip`, for the address.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) punishments: Option<Vec<PunishmentBody>>,
    /// With `include=language`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) language: Option<PlayerLanguage>,
    /// With `include=balances`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) balances: Option<Vec<Balance>>,
    /// With `include=statistics`: those of the game mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) statistics: Option<PlayerStatistics>,
    /// With `include=session`: the newest session; null if there never was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) session: Option<IncludedSession>,
    /// With `include=deliveries`: those that the server where the player is may claim now, at most 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) deliveries: Option<Vec<DeliveryBody>>,
    /// With `include=login`: answer of the network's modules about the player who joins; without modules they are allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) login: Option<LoginVerdict>,
    /// With `include=data:NAMESPACE`: data by namespace, in the game mode; null if nothing is stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) data: Option<BTreeMap<String, StoredData>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn includes_are_read_from_names() {
        let some = Includes::parse("permissions, data:inventory,data:kit:1,").unwrap();
        assert!(some.permissions && !some.punishments && !some.statistics);
        assert_eq!(some.data.unwrap().iter().map(Label::as_str).collect::<Vec<_>>(), ["inventory", "kit:1"]);
        assert!(Includes::parse("").unwrap().data.is_none());
        assert!(Includes::parse("permissions,money").unwrap_err().contains("`money` is not one of"));
        assert!(Includes::parse("data:").is_err());
    }
}
