//! Parses option values that are more than a text or a number.

use std::net::IpAddr;

use ipnet::IpNet;
use serde::Deserialize;

/// Parses the hub's base URL.
pub(super) fn base_url<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let Some(text) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
    let text = text.trim_end_matches('/');
    let web = text.parse::<axum::http::Uri>().is_ok_and(|uri| {
        matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some() && uri.query().is_none()
    });
    if web {
        return Ok(Some(text.to_owned()));
    }
    Err(serde::de::Error::custom("must be a URL like https://hub.example"))
}

/// Parses a URL of `http` or `https`.
pub(super) fn web_address<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let Some(text) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
    let url = reqwest::Url::parse(&text).ok();
    if url.is_some_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host()) {
        return Ok(Some(text));
    }
    Err(serde::de::Error::custom("must be a URL like https://billing.example/usage"))
}

/// Parses a list: a TOML array, or one comma-separated text from the environment.
pub(super) fn list<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum List {
        Text(String),
        Items(Vec<String>),
    }
    Ok(match List::deserialize(deserializer)? {
        List::Text(text) => text.split(',').map(|item| item.trim().to_owned()).collect(),
        List::Items(items) => items,
    })
}

/// Parses networks such as `10.0.0.0/8`, or single addresses.
pub(super) fn networks<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<IpNet>, D::Error> {
    let network = |text: String| {
        let network = text.parse().or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
        network.map_err(|_| serde::de::Error::custom(format!("{text} is not a network such as 10.0.0.0/8")))
    };
    list(deserializer)?.into_iter().filter(|text| !text.is_empty()).map(network).collect()
}
