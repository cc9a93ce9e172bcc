//! Restrictions of a key to servers and addresses.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::values::Identifier;

/// Restrictions of a key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bindings {
    /// Servers for which it is valid; none: any.
    pub servers: Option<Vec<Identifier>>,
    /// Addresses from which it is valid; none: any.
    pub addresses: Option<Vec<AddressRange>>,
}

impl Bindings {
    /// Maximum number of servers, and of addresses, per key.
    pub const MAX: usize = 100;

    /// Parses the database's form. Unreadable text makes the key useless instead of unrestricted.
    pub fn from_text(servers: Option<&str>, addresses: Option<&str>) -> Self {
        Self { servers: servers.map(read), addresses: addresses.map(read) }
    }

    /// Database form of the servers.
    pub fn servers_text(&self) -> Option<String> {
        self.servers.as_ref().map(|servers| serde_json::json!(servers).to_string())
    }

    /// Database form of the addresses.
    pub fn addresses_text(&self) -> Option<String> {
        self.addresses.as_ref().map(|addresses| serde_json::json!(addresses).to_string())
    }

    /// True if the key is valid for the server.
    pub fn allow_server(&self, id: &str) -> bool {
        self.servers.as_ref().is_none_or(|servers| servers.iter().any(|server| server.as_str() == id))
    }

    /// True if the key is valid from the address.
    pub(crate) fn allow_address(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.addresses.as_ref().is_none_or(|ranges| ranges.iter().any(|range| range.0.contains(&address)))
    }

    /// True if `other` allows no server and no address that these bindings do not allow.
    pub fn cover(&self, other: &Self) -> bool {
        let servers = match (&self.servers, &other.servers) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(_), Some(servers)) => servers.iter().all(|server| self.allow_server(server.as_str())),
        };
        let addresses = match (&self.addresses, &other.addresses) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(own), Some(ranges)) => ranges.iter().all(|range| own.iter().any(|own| own.0.contains(&range.0))),
        };
        servers && addresses
    }

    /// Bindings for a key created with this one: those requested, otherwise its own.
    #[must_use]
    pub fn pass_to(&self, asked: Self) -> Self {
        Self {
            servers: asked.servers.or_else(|| self.servers.clone()),
            addresses: asked.addresses.or_else(|| self.addresses.clone()),
        }
    }
}

fn read<T: for<'de> Deserialize<'de>>(text: &str) -> Vec<T> {
    serde_json::from_str(text).unwrap_or_default()
}

/// IP address range in CIDR notation; a single address is a range of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct AddressRange(IpNet);

impl FromStr for AddressRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let range = text.parse::<IpNet>().or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
        match range.map(|range| range.trunc()) {
            // Clients' IPv4-mapped addresses are compared as IPv4.
            Ok(IpNet::V6(range)) if range.addr().to_ipv4_mapped().is_some() => {
                Err("must be written as IPv4, without ::ffff:".to_owned())
            }
            Ok(range) => Ok(Self(range)),
            Err(_) => Err("must be an IP address or range, such as 203.0.113.0/24".to_owned()),
        }
    }
}

impl TryFrom<String> for AddressRange {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<AddressRange> for String {
    fn from(range: AddressRange) -> Self {
        range.to_string()
    }
}

impl fmt::Display for AddressRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl PartialSchema for AddressRange {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some("IP address range in CIDR notation; a single address is a range of one."))
            .examples(["203.0.113.0/24"])
            .into()
    }
}
impl ToSchema for AddressRange {}

#[cfg(test)]
mod tests {
    use super::*;

    fn bindings(servers: Option<&[&str]>, addresses: Option<&[&str]>) -> Bindings {
        Bindings {
            servers: servers.map(|all| all.iter().map(|id| id.parse().unwrap()).collect()),
            addresses: addresses.map(|all| all.iter().map(|range| range.parse().unwrap()).collect()),
        }
    }

    #[test]
    fn what_a_bound_key_covers_is_narrower() {
        let own = bindings(Some(&["a", "b"]), Some(&["10.0.0.0/8"]));
        assert!(own.cover(&own));
        assert!(own.cover(&bindings(Some(&["b"]), Some(&["10.1.0.0/16", "10.2.3.4"]))));
        assert!(Bindings::default().cover(&own));
        for wider in [
            bindings(Some(&["a", "c"]), Some(&["10.0.0.0/8"])),
            bindings(None, Some(&["10.0.0.0/8"])),
            bindings(Some(&["a"]), None),
            bindings(Some(&["a"]), Some(&["0.0.0.0/0"])),
            bindings(Some(&["a"]), Some(&["10.0.0.0/7"])),
        ] {
            assert!(!own.cover(&wider), "{wider:?}");
        }
    }

    #[test]
    fn a_range_reads_as_it_is_stored() {
        let stored = bindings(Some(&["a"]), Some(&["10.1.2.3/8", "2001:db8::1"]));
        assert_eq!(stored.addresses_text().unwrap(), r#"["10.0.0.0/8","2001:db8::1/128"]"#);
        let read = Bindings::from_text(stored.servers_text().as_deref(), stored.addresses_text().as_deref());
        assert_eq!(read, stored);
        assert!(read.allow_address("::ffff:10.9.9.9".parse().unwrap()));
        assert!(!read.allow_address("11.0.0.1".parse().unwrap()));
        for wrong in ["", "10.0.0.0/33", "ten", "::ffff:10.0.0.0/104"] {
            assert!(wrong.parse::<AddressRange>().is_err(), "{wrong}");
        }
        // Never wider than intended.
        let unreadable = Bindings::from_text(Some("?"), Some("?"));
        assert!(!unreadable.allow_server("a") && !unreadable.allow_address("10.0.0.1".parse().unwrap()));
    }
}
