//! What a punishment is made of: values that are valid by construction.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use hub_sandbox::contract::PunishmentKind;
use serde::{Deserialize, Deserializer, Serialize, de};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::clock::Millis;

/// The four kinds. Read in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Kind {
    /// May not join.
    Ban,
    /// May not chat.
    Mute,
    /// Is warned.
    Warn,
    /// Is thrown out once: recorded and told, never in force.
    Kick,
}

impl Kind {
    /// The literal on the wire and in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ban => "BAN",
            Self::Mute => "MUTE",
            Self::Warn => "WARN",
            Self::Kick => "KICK",
        }
    }
}

/// What is no kind.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("must be BAN, MUTE, WARN or KICK")]
pub struct NoKind;

impl FromStr for Kind {
    type Err = NoKind;

    fn from_str(text: &str) -> Result<Self, NoKind> {
        [Self::Ban, Self::Mute, Self::Warn, Self::Kick]
            .into_iter()
            .find(|kind| kind.as_str().eq_ignore_ascii_case(text))
            .ok_or(NoKind)
    }
}

impl TryFrom<String> for Kind {
    type Error = NoKind;

    fn try_from(text: String) -> Result<Self, NoKind> {
        text.parse()
    }
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl From<PunishmentKind> for Kind {
    fn from(kind: PunishmentKind) -> Self {
        match kind {
            PunishmentKind::Ban => Self::Ban,
            PunishmentKind::Mute => Self::Mute,
            PunishmentKind::Warn => Self::Warn,
            PunishmentKind::Kick => Self::Kick,
        }
    }
}

impl From<Kind> for PunishmentKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Ban => Self::Ban,
            Kind::Mute => Self::Mute,
            Kind::Warn => Self::Warn,
            Kind::Kick => Self::Kick,
        }
    }
}

/// How long a punishment lasts: 1 ms to 1,000 years. What is to last longer is permanent and says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span(Millis);

impl Span {
    /// The longest, in milliseconds. Beyond any record, and far from where a timestamp would overflow.
    pub const MAX_MS: Millis = 1_000 * 365 * 24 * 60 * 60 * 1_000;

    /// In milliseconds.
    pub fn ms(self) -> Millis {
        self.0
    }

    /// What a module asked for, cut to the longest.
    pub fn of_module(ms: u64) -> Self {
        Self(Millis::try_from(ms).unwrap_or(Self::MAX_MS).clamp(1, Self::MAX_MS))
    }
}

impl TryFrom<Millis> for Span {
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

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Millis::deserialize(deserializer)?.try_into().map_err(de::Error::custom)
    }
}

impl PartialSchema for Span {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1)).maximum(Some(Self::MAX_MS)).into()
    }
}
impl ToSchema for Span {}

/// An IPv4 or IPv6 address in its one canonical text: IPv4-mapped addresses are the IPv4 ones they stand for.
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

impl fmt::Display for IpAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
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

/// A name as names are compared: without case.
#[derive(Clone, Debug, PartialEq, Eq, Hash, sqlx::Type)]
#[sqlx(transparent)]
pub(super) struct FoldedName(String);

impl FoldedName {
    pub(super) fn of(name: &str) -> Self {
        Self(name.to_lowercase())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_one_text() {
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
    fn a_span_is_neither_nothing_nor_for_ever() {
        for wrong in [0, -1, Millis::MIN, Millis::MAX, Span::MAX_MS + 1] {
            assert!(Span::try_from(wrong).is_err(), "{wrong}");
        }
        assert_eq!(Span::try_from(1).unwrap().ms(), 1);
        assert_eq!(Span::try_from(Span::MAX_MS).unwrap().ms(), Span::MAX_MS);
        assert_eq!(Span::of_module(u64::MAX).ms(), Span::MAX_MS);
    }
}
