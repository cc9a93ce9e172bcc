//! `endpoints.wit`: requests to the network's own routes, and their answers.

use super::effects::Effect;
use serde::{Deserialize, Serialize};
use wasmtime::component::{ComponentType, Lift, Lower};

/// Kind of a caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lower)]
#[component(enum)]
#[serde(rename_all = "UPPERCASE")]
#[repr(u8)]
pub enum CallerKind {
    /// An API key of the network.
    #[component(name = "key")]
    Key,
    /// Anyone, at a public endpoint without a signature.
    #[component(name = "public")]
    #[default]
    Public,
    /// The holder of the secret, at a public endpoint with a signature.
    #[component(name = "signed")]
    Signed,
    /// A person of the network's staff.
    #[component(name = "person")]
    Person,
}

/// Sender of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lower)]
#[component(record)]
#[serde(deny_unknown_fields)]
pub struct Caller {
    /// Its kind.
    #[component(name = "kind")]
    #[serde(default)]
    pub kind: CallerKind,
    /// Id of the key or the person; otherwise empty.
    #[component(name = "id")]
    #[serde(default)]
    pub id: String,
    /// Servers that a key is bound to; empty: none.
    #[component(name = "servers")]
    #[serde(default)]
    pub servers: Vec<String>,
}

/// A request, after the hub has checked its route, size, signature and schema.
#[derive(Clone, Debug, Default, PartialEq, Eq, ComponentType, Lower)]
#[component(record)]
pub struct Request {
    /// Name of the endpoint in the manifest.
    #[component(name = "endpoint")]
    pub endpoint: String,
    /// Its method.
    #[component(name = "method")]
    pub method: String,
    /// The path after the module's name.
    #[component(name = "path")]
    pub path: String,
    /// Parameters of the path, by name.
    #[component(name = "parameters")]
    pub parameters: Vec<(String, String)>,
    /// The query, decoded.
    #[component(name = "query")]
    pub query: Vec<(String, String)>,
    /// `content-type` and the headers of the manifest, in lower case.
    #[component(name = "headers")]
    pub headers: Vec<(String, String)>,
    /// Up to 64 KiB.
    #[component(name = "body")]
    pub body: Vec<u8>,
    /// Key by which repeats are recognised.
    #[component(name = "dedupe")]
    pub dedupe: Option<String>,
    /// Its sender.
    #[component(name = "caller")]
    pub caller: Caller,
    /// Tells addresses of clients apart, within a day.
    #[component(name = "address-hash")]
    pub address_hash: String,
    /// Address of the client, if the owner granted it.
    #[component(name = "address")]
    pub address: Option<String>,
}

/// A module's answer.
#[derive(Clone, Debug, PartialEq, ComponentType, Lift)]
#[component(record)]
pub struct Response {
    /// 200 to 299, 303, or 400 to 422 except 401, 403 and 413.
    #[component(name = "status")]
    pub status: u16,
    /// `content-type`, `cache-control`, `etag`, `location` and `x-…`.
    #[component(name = "headers")]
    pub headers: Vec<(String, String)>,
    /// Up to 256 KiB.
    #[component(name = "body")]
    pub body: Vec<u8>,
    /// None for GET.
    #[component(name = "effects")]
    pub effects: Vec<Effect>,
}

impl Default for Response {
    /// 204, without a body.
    fn default() -> Self {
        Self { status: 204, headers: Vec::new(), body: Vec::new(), effects: Vec::new() }
    }
}
