//! Client address of a request passed on by proxies.

use std::net::{IpAddr, SocketAddr};

use axum::extract::{ConnectInfo, Request, State};
use axum::http::HeaderMap;
use axum::response::Response;
use ipnet::IpNet;

use crate::app::App;
use crate::http::layers::Next;

const FORWARDED_FOR: &str = "x-forwarded-for";

/// Replaces the address of a trusted proxy with its client's.
pub async fn layer(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let trusted = &app.settings.trusted_proxies;
    if !trusted.is_empty()
        && let Some(ConnectInfo(peer)) = request.extensions().get::<ConnectInfo<SocketAddr>>().copied()
    {
        let client = client_ip(peer.ip(), request.headers(), trusted);
        if client != peer.ip() {
            request.extensions_mut().insert(ConnectInfo(SocketAddr::new(client, 0)));
        }
    }
    next.run(request).await
}

/// Each proxy appends its peer's address; entries before that of an untrusted one are ignored.
fn client_ip(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let values = headers.get_all(FORWARDED_FOR).iter().rev();
    let hops = values.flat_map(|value| value.to_str().unwrap_or_default().rsplit(','));
    let mut client = peer.to_canonical();
    for hop in hops {
        if !trusted.iter().any(|network| network.contains(&client)) {
            break;
        }
        let Some(caller) = parse_hop(hop.trim()) else { break };
        client = caller.to_canonical();
    }
    client
}

/// Some proxies add the port.
fn parse_hop(hop: &str) -> Option<IpAddr> {
    hop.parse().ok().or_else(|| hop.parse::<SocketAddr>().ok().map(|address| address.ip()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_trusted_proxies_are_believed() {
        let trusted: Vec<IpNet> = vec!["10.0.0.0/8".parse().unwrap(), "fd00::/8".parse().unwrap()];
        let client = |peer: &str, values: &[&str]| {
            let headers = values.iter().map(|value| (FORWARDED_FOR.parse().unwrap(), value.parse().unwrap())).collect();
            client_ip(peer.parse().unwrap(), &headers, &trusted).to_string()
        };
        assert_eq!(client("10.0.0.1", &[]), "10.0.0.1");
        assert_eq!(client("10.0.0.1", &["203.0.113.7"]), "203.0.113.7");
        assert_eq!(client("::ffff:10.0.0.1", &["203.0.113.7:4711"]), "203.0.113.7");
        assert_eq!(client("fd00::1", &["[2001:db8::1]:4711"]), "2001:db8::1");
        // Several proxies, in one header or in several.
        assert_eq!(client("10.0.0.1", &["203.0.113.7, 10.0.0.2"]), "203.0.113.7");
        assert_eq!(client("10.0.0.1", &["203.0.113.7", "10.0.0.2"]), "203.0.113.7");
        // Forged by the client itself.
        assert_eq!(client("203.0.113.9", &["203.0.113.7"]), "203.0.113.9");
        assert_eq!(client("10.0.0.1", &["198.51.100.1, 203.0.113.7"]), "203.0.113.7");
        assert_eq!(client("10.0.0.1", &["203.0.113.7, unknown"]), "10.0.0.1");
    }
}
