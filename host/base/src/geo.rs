//! Locates IP addresses with a GeoIP database.

use std::fmt;
use std::net::IpAddr;
use std::path::Path;

use anyhow::Context as _;
use maxminddb::Reader;
use serde::{Deserialize, Serialize};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

const UNKNOWN: &str = "UNKNOWN";

/// Name of a region: a continent, or defined by the network. Case-insensitive; `EU` and `US` mean `EUROPE` and
/// `NORTH_AMERICA`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Region(String);

impl Region {
    /// Region of unknown locations.
    pub fn unknown() -> Self {
        Self(UNKNOWN.to_owned())
    }

    /// True for the region of unknown locations.
    pub fn is_unknown(&self) -> bool {
        self.0 == UNKNOWN
    }

    /// Canonical spelling of the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn from_continent(code: &str) -> Option<Self> {
        let name = match code {
            "AF" => "AFRICA",
            "AN" => "ANTARCTICA",
            "AS" => "ASIA",
            "EU" => "EUROPE",
            "NA" => "NORTH_AMERICA",
            "OC" => "OCEANIA",
            "SA" => "SOUTH_AMERICA",
            _ => return None,
        };
        Some(Self(name.to_owned()))
    }
}

impl TryFrom<String> for Region {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let name = text.trim().to_ascii_uppercase();
        let fits = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-');
        if name.is_empty() || name.len() > 64 || !name.bytes().all(fits) {
            return Err("must be 1 to 64 of the characters A-Z, 0-9, _ and -".to_owned());
        }
        Ok(Self(match name.as_str() {
            "EU" => "EUROPE".to_owned(),
            "US" => "NORTH_AMERICA".to_owned(),
            _ => name,
        }))
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl PartialSchema for Region {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .max_length(Some(64))
            .pattern(Some("^[A-Za-z0-9_-]*$"))
            .examples(["EUROPE"])
            .into()
    }
}
impl ToSchema for Region {}

/// Location of an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeoLocation {
    /// Region.
    pub region: Region,
    /// Country as two upper-case letters.
    pub country: Option<String>,
}

impl GeoLocation {
    /// Unknown location.
    pub fn unknown() -> Self {
        Self { region: Region::unknown(), country: None }
    }
}

/// GeoIP database in MaxMind format, or none.
#[derive(Debug, Default)]
pub struct Geo(Option<Reader<Vec<u8>>>);

/// Common fields of MaxMind's and DB-IP's Country and City files.
#[derive(Deserialize)]
struct Record<'a> {
    #[serde(borrow)]
    continent: Option<Continent<'a>>,
    #[serde(borrow)]
    country: Option<Country<'a>>,
}

#[derive(Deserialize)]
struct Continent<'a> {
    code: Option<&'a str>,
}

#[derive(Deserialize)]
struct Country<'a> {
    iso_code: Option<&'a str>,
}

impl Geo {
    /// Reads the file into memory; without a file every address is unknown.
    pub fn open(file: Option<&Path>) -> anyhow::Result<Self> {
        let Some(file) = file else { return Ok(Self(None)) };
        let reader = Reader::open_readfile(file)
            .with_context(|| format!("cannot read the GeoIP database {}", file.display()))?;
        Ok(Self(Some(reader)))
    }

    /// Locates an address; none if its region is unknown.
    pub fn locate(&self, address: IpAddr) -> Option<GeoLocation> {
        let found = self.0.as_ref()?.lookup(address.to_canonical()).ok()?;
        let record: Record<'_> = match found.decode() {
            Ok(record) => record?,
            Err(error) => {
                tracing::warn!(%error, "cannot read a record of the GeoIP database");
                return None;
            }
        };
        let region = Region::from_continent(record.continent?.code?)?;
        let country = record.country.and_then(|country| country.iso_code).map(str::to_ascii_uppercase);
        Some(GeoLocation { region, country })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn region_names_have_one_spelling() {
        let read = |text: &str| Region::try_from(text.to_owned()).map(|region| region.0);
        assert_eq!(read("eu").unwrap(), "EUROPE");
        assert_eq!(read(" US ").unwrap(), "NORTH_AMERICA");
        assert_eq!(read("moon-base_1").unwrap(), "MOON-BASE_1");
        for bad in ["", " ", "a b", "é", &"x".repeat(65)] {
            assert!(read(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn without_a_database_nothing_is_located() {
        assert_eq!(Geo::open(None).unwrap().locate(IpAddr::from([8, 8, 8, 8])), None);
        let error = Geo::open(Some(Path::new("/nowhere/geo.mmdb"))).unwrap_err();
        assert!(format!("{error:#}").contains("/nowhere/geo.mmdb"));
    }
}
