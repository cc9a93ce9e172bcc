//! The configuration; the README explains it.

use serde::Deserialize;

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Config {
    /// Packages that the shop sells, by their ids.
    pub(crate) products: Vec<Product>,
    /// Tells the network of each purchase.
    pub(crate) announce: bool,
}

/// A package of the shop.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Product {
    /// Number of the package in Tebex.
    pub(crate) id: u64,
    /// Group of permissions that its buyer joins; empty: none.
    #[serde(default)]
    pub(crate) rank: String,
    /// Days of the rank; 0: for ever. Tebex's own end of a package comes first.
    #[serde(default)]
    pub(crate) days: u64,
    /// Kind of the delivery; empty: none.
    #[serde(default)]
    pub(crate) delivery: String,
    /// Kind of a delivery that takes it back after a refund; empty: none.
    #[serde(default)]
    pub(crate) refund_delivery: String,
}
