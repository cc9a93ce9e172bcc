//! Parts of a punishment: values that are valid by construction.

use std::borrow::Cow;
use std::net::IpAddr;
use std::str::FromStr;

use hub_sandbox::contract;
use serde::{Deserialize, Deserializer, Serialize, de};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::clock::Millis;

/// The four kinds. Case-insensitive in requests.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema, strum::EnumString, strum::IntoStaticStr,
)]
#[serde(rename_all = "UPPERCASE", try_from = "String")]
#[strum(serialize_all = "UPPERCASE", ascii_case_insensitive)]
pub enum PunishmentKind {
    /// Blocks joining.
    Ban,
    /// Blocks chatting.
    Mute,
    /// Warns the player.
    Warn,
    /// Disconnects the player once: recorded and published, never in force.
    Kick,
}

impl PunishmentKind {
    /// Form on the wire and in the database.
    pub(super) fn as_str(self) -> &'static str {
        self.into()
    }
}

impl TryFrom<String> for PunishmentKind {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        text.parse().map_err(|_| "must be BAN, MUTE, WARN or KICK")
    }
}

impl From<contract::PunishmentKind> for PunishmentKind {
    fn from(kind: contract::PunishmentKind) -> Self {
        match kind {
            contract::PunishmentKind::Ban => Self::Ban,
            contract::PunishmentKind::Mute => Self::Mute,
            contract::PunishmentKind::Warn => Self::Warn,
            contract::PunishmentKind::Kick => Self::Kick,
        }
    }
}

impl From<PunishmentKind> for contract::PunishmentKind {
    fn from(kind: PunishmentKind) -> Self {
        match kind {
            PunishmentKind::Ban => Self::Ban,
            PunishmentKind::Mute => Self::Mute,
            PunishmentKind::Warn => Self::Warn,
            PunishmentKind::Kick => Self::Kick,
        }
    }
}

/// Duration of a punishment: 1 ms to 1,000 years.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PunishmentDuration(Millis);

impl PunishmentDuration {
    /// Maximum in milliseconds, far from an overflow of timestamps.
    pub(super) const MAX_MS: Millis = 1_000 * 365 * 24 * 60 * 60 * 1_000;

    /// The duration in milliseconds.
    pub fn ms(self) -> Millis {
        self.0
    }

    /// A duration from a module, clamped to the allowed range.
    pub(crate) fn clamped(ms: u64) -> Self {
        Self(Millis::try_from(ms).unwrap_or(Self::MAX_MS).clamp(1, Self::MAX_MS))
    }
}

impl TryFrom<Millis> for PunishmentDuration {
    type Error = String;

    fn try_from(ms: Millis) -> Result<Self, String> {
        if ms < 1 {
            return Err("must be 1 or more milliseconds; null is permanent".to_owned());
        }
        if ms > Self::MAX_MS {
            return Err(format!("must be at most {} milliseconds (1,000 years); null is permanent", Self::MAX_MS));
        }
        Ok(Self(ms))
    }
}

impl<'de> Deserialize<'de> for PunishmentDuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Millis::deserialize(deserializer)?.try_into().map_err(de::Error::custom)
    }
}

impl PartialSchema for PunishmentDuration {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1)).maximum(Some(Self::MAX_MS)).into()
    }
}
impl ToSchema for PunishmentDuration {
    fn name() -> Cow<'static, str> {
        "Span".into()
    }
}

/// An IPv4 or IPv6 address in its canonical text; IPv4-mapped IPv6 addresses become IPv4.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, sqlx::Type)]
#[serde(transparent)]
#[sqlx(transparent)]
pub struct IpAddress(String);

impl IpAddress {
    /// The canonical text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<IpAddr> for IpAddress {
    fn from(address: IpAddr) -> Self {
        Self(address.to_canonical().to_string())
    }
}

impl FromStr for IpAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let address = text.trim().parse::<IpAddr>();
        address.map(Self::from).map_err(|_| "must be an IPv4 or IPv6 address".to_owned())
    }
}

impl<'de> Deserialize<'de> for IpAddress {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl PartialSchema for IpAddress {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::String).examples(["203.0.113.7"]).into()
    }
}
impl ToSchema for IpAddress {}

/// A name in its form for comparisons: without case.
#[derive(Clone, Debug, PartialEq, Eq, Hash, sqlx::Type)]
#[sqlx(transparent)]
pub(super) struct FoldedName(String);

impl FoldedName {
    pub(super) fn new(name: &str) -> Self {
        Self(name.to_lowercase())
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_one_spelling() {
        for (sent, kept) in [
            ("203.0.113.7", "203.0.113.7"),
            (" 203.0.113.7 ", "203.0.113.7"),
            ("::ffff:203.0.113.7", "203.0.113.7"),
            ("::FFFF:CB00:7107", "203.0.113.7"),
            ("2001:0DB8:0:0:0:0:0:1", "2001:db8::1"),
        ] {
            assert_eq!(sent.parse::<IpAddress>().unwrap().as_str(), kept);
        }
        for wrong in ["", "localhost", "203.0.113", "203.0.113.256", "203.0.113.7:25565", "[::1]", "fe80::1%eth0", "1"]
        {
            assert!(wrong.parse::<IpAddress>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn durations_are_positive_and_bounded() {
        for wrong in [0, -1, Millis::MIN, Millis::MAX, PunishmentDuration::MAX_MS + 1] {
            assert!(PunishmentDuration::try_from(wrong).is_err(), "{wrong}");
        }
        assert_eq!(PunishmentDuration::try_from(1).unwrap().ms(), 1);
        assert_eq!(PunishmentDuration::try_from(PunishmentDuration::MAX_MS).unwrap().ms(), PunishmentDuration::MAX_MS);
        assert_eq!(PunishmentDuration::clamped(u64::MAX).ms(), PunishmentDuration::MAX_MS);
    }
}
