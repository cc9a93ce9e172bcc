//! Look-ups of receivers' names, which return only addresses that a webhook may reach.
//!
//! They are tasks and hold no thread, and end with the attempt that waits for them: names of slow name servers, which
//! hostile networks choose, delay nobody else.

use std::error::Error;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use hickory_resolver::TokioResolver;
use parking_lot::Mutex;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::config::HostResolver;
use crate::webhooks::addresses::AddressPolicy;

/// Time of one question, which is repeated once.
const QUESTION: Duration = Duration::from_secs(2);
/// Questions under way over one TCP connection to a name server.
const QUESTIONS: usize = 1_024;
const SETTINGS: &str = "/etc/resolv.conf";

pub(super) const NOT_ALLOWED: &str = "the name has no public address, so nothing was sent";

type AnyError = Box<dyn Error + Send + Sync>;

/// A resolver that returns only allowed addresses. The client connects to exactly these.
pub(super) struct AllowedAddresses {
    policy: AddressPolicy,
    source: Source,
}

#[derive(Clone)]
enum Source {
    Given(HostResolver),
    NameServers(Arc<NameServers>),
}

impl AllowedAddresses {
    /// Asks `look_up`, or the system's name servers without it.
    pub(super) fn new(policy: AddressPolicy, look_up: Option<HostResolver>) -> Self {
        Self { policy, source: look_up.map_or_else(|| Source::NameServers(Arc::default()), Source::Given) }
    }
}

impl Resolve for AllowedAddresses {
    fn resolve(&self, name: Name) -> Resolving {
        let host = name.as_str().to_owned();
        let (policy, source) = (self.policy.clone(), self.source.clone());
        Box::pin(async move {
            let addresses = match source {
                Source::Given(look_up) => look_up(host).await?,
                Source::NameServers(servers) => servers.look_up(&host).await?,
            };
            let allowed: Vec<_> = addresses.into_iter().filter(|address| policy.allows(*address)).collect();
            if allowed.is_empty() {
                return Err(NOT_ALLOWED.into());
            }
            Ok(Box::new(allowed.into_iter().map(|address| SocketAddr::new(address, 0))) as Addrs)
        })
    }
}

/// The system's name servers and its file of hosts.
#[derive(Default)]
struct NameServers(Mutex<Option<(Option<SystemTime>, TokioResolver)>>);

impl NameServers {
    async fn look_up(&self, host: &str) -> Result<Vec<IpAddr>, AnyError> {
        Ok(self.current()?.lookup_ip(host).await?.iter().collect())
    }

    /// A resolver for the settings as they are now: the network may be another one than at the start.
    fn current(&self) -> Result<TokioResolver, AnyError> {
        let changed_at = Path::new(SETTINGS).metadata().and_then(|metadata| metadata.modified()).ok();
        let mut current = self.0.lock();
        if let Some((at, resolver)) = &*current
            && *at == changed_at
        {
            return Ok(resolver.clone());
        }
        let mut builder = TokioResolver::builder_tokio()?;
        let options = builder.options_mut();
        (options.timeout, options.attempts, options.max_active_requests) = (QUESTION, 1, QUESTIONS);
        let resolver = builder.build()?;
        *current = Some((changed_at, resolver.clone()));
        Ok(resolver)
    }
}
