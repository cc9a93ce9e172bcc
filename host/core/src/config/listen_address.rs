//! Addresses to listen on.

use std::fmt::{self, Display};
use std::net::SocketAddr;
use std::str::FromStr;

use hub_base::host::Host;
use hub_base::text_type::deserialize_text;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A port of this machine at an IP address, or at a host name, which is resolved at the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListenAddress {
    Resolved(SocketAddr),
    Named(Host, u16),
}

impl ListenAddress {
    /// True if it is all addresses of the machine.
    pub fn is_unspecified(&self) -> bool {
        matches!(self, Self::Resolved(address) if address.ip().is_unspecified())
    }

    pub fn port(&self) -> u16 {
        match self {
            Self::Resolved(address) => address.port(),
            Self::Named(_, port) => *port,
        }
    }

    /// The address with its name resolved, to one of IPv4 if there is one: that is where most clients look first.
    ///
    /// # Errors
    /// Fails if the name has no address; the error names `option`.
    pub async fn resolve(&self, option: &str) -> anyhow::Result<SocketAddr> {
        let (host, port) = match self {
            Self::Resolved(address) => return Ok(*address),
            Self::Named(host, port) => (host.plain(), *port),
        };
        let found = tokio::net::lookup_host((host, port)).await;
        let found = found.map_err(|error| anyhow::anyhow!("{option}: the host name {host} has no address: {error}"))?;
        let found: Vec<_> = found.collect();
        let best = found.iter().find(|address| address.is_ipv4()).or(found.first());
        best.copied().ok_or_else(|| anyhow::anyhow!("{option}: the host name {host} has no address"))
    }
}

impl From<SocketAddr> for ListenAddress {
    fn from(address: SocketAddr) -> Self {
        Self::Resolved(address)
    }
}

impl From<([u8; 4], u16)> for ListenAddress {
    fn from(address: ([u8; 4], u16)) -> Self {
        Self::Resolved(address.into())
    }
}

impl FromStr for ListenAddress {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str = "must be an address and a port, such as 127.0.0.1:8080, [::1]:8080 or localhost:8080";
        if let Ok(address) = text.parse::<SocketAddr>() {
            return Ok(Self::Resolved(address));
        }
        let (host, port) = text.rsplit_once(':').ok_or(EXPECTED)?;
        let host: Host = host.parse().map_err(|_| EXPECTED)?;
        if host.address().is_some() {
            return Err(EXPECTED);
        }
        Ok(Self::Named(host, port.parse().map_err(|_| EXPECTED)?))
    }
}

impl Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Resolved(address) => address.fmt(f),
            Self::Named(host, port) => write!(f, "{host}:{port}"),
        }
    }
}

impl Serialize for ListenAddress {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ListenAddress {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize_text(deserializer)
    }
}
