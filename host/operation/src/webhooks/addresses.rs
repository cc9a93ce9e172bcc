//! Addresses that webhooks may reach.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::IpNet;

/// Ranges that are not public (RFC 6890 and its successors).
const NOT_PUBLIC_V4: &[(Ipv4Addr, u8)] = &[
    (Ipv4Addr::UNSPECIFIED, 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    // Shared by customers of a provider.
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    // Link-local, where clouds keep their metadata.
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    // Relays of 6to4.
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    // Multicast and reserved addresses.
    (Ipv4Addr::new(224, 0, 0, 0), 3),
];

/// Ranges inside the public `2000::/3` that lead to other addresses.
const NOT_PUBLIC_V6: &[(Ipv6Addr, u8)] = &[
    // Addresses of protocols, such as Teredo's tunnels.
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    // 6to4: any address of IPv4.
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

/// True for addresses of the public internet. Addresses that map to others (IPv4-mapped, NAT64) are excluded.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            let bits = address.to_bits();
            !NOT_PUBLIC_V4.iter().any(|(range, length)| (bits ^ range.to_bits()) >> (32 - length) == 0)
        }
        IpAddr::V6(address) => {
            let bits = address.to_bits();
            let is_global = bits >> 125 == 1;
            is_global && !NOT_PUBLIC_V6.iter().any(|(range, length)| (bits ^ range.to_bits()) >> (128 - length) == 0)
        }
    }
}

/// Reachable addresses.
#[derive(Clone, Debug)]
pub(super) enum AddressPolicy {
    /// Public addresses, and those of the operator's networks.
    PublicAnd(Vec<IpNet>),
    /// Only addresses of the operator's networks.
    Only(Vec<IpNet>),
}

impl AddressPolicy {
    pub(super) fn allows(&self, address: IpAddr) -> bool {
        let of_operator = |networks: &[IpNet]| networks.iter().any(|network| network.contains(&address));
        match self {
            Self::PublicAnd(networks) => is_public(address) || of_operator(networks),
            Self::Only(networks) => of_operator(networks),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_public_internet_is_public() {
        for public in [
            "1.1.1.1",
            "8.8.8.8",
            "100.63.255.255",
            "100.128.0.0",
            "172.32.0.1",
            "192.0.1.1",
            "223.255.255.255",
            "2606:4700::1111",
            "2a00:1450::1",
            "2001:200::1",
            "3ffe::1",
        ] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
        for private in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.255",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.8",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.1",
            "203.0.113.9",
            "224.0.0.1",
            "239.1.1.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:8.8.8.8",
            "::ffff:127.0.0.1",
            "::8.8.8.8",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "3fff::1",
            "5f00::1",
            "fc00::1",
            "fd12::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!is_public(private.parse().unwrap()), "{private}");
        }
    }

    #[test]
    fn an_operator_may_allow_more() {
        let networks: Vec<IpNet> = vec!["10.1.0.0/16".parse().unwrap()];
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        let and = AddressPolicy::PublicAnd(networks.clone());
        assert!(and.allows(address("10.1.2.3")) && and.allows(address("1.1.1.1")) && !and.allows(address("10.2.0.1")));
        let only = AddressPolicy::Only(networks);
        assert!(only.allows(address("10.1.2.3")) && !only.allows(address("1.1.1.1")));
        assert!(!only.allows(address("::ffff:10.1.2.3")), "it stands for another");
    }
}
