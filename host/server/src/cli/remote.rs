//! The hub that a command calls, and the right to do so: an API key, or the session of a profile.

use anyhow::{Context as _, ensure};
use clap::Args;

use crate::cli::client::HubClient;
use crate::cli::profiles::{Profile, Profiles};

/// Address of a hub on the same machine, with its usual settings.
pub(super) const DEFAULT_URL: &str = "http://127.0.0.1:8080";

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Hub")]
pub(super) struct Remote {
    /// Hub URL [default: the profile's, or this machine's at port 8080]
    #[arg(long = "hub", id = "hub_url", env = "HUB_URL", value_name = "URL")]
    url: Option<String>,
    /// API key [default: the profile's session]
    #[arg(long = "key", id = "hub_key", env = "HUB_KEY", hide_env_values = true, value_name = "KEY")]
    key: Option<String>,
    /// Profile of `hub login`, which goes before a key of the environment [default: the latest]
    #[arg(long, env = "HUB_PROFILE", value_name = "NAME")]
    profile: Option<String>,
}

impl Remote {
    pub(super) fn client(&self) -> anyhow::Result<HubClient> {
        let url = self.url.as_deref().filter(|url| !url.is_empty());
        if let Some(name) = &self.profile {
            let profiles = Profiles::read()?;
            let profile = profiles
                .get(name)
                .with_context(|| format!("there is no profile `{name}`: `hub login --profile {name}`"))?;
            return of_profile(name, profile, url);
        }
        if let Some(key) = self.key.as_deref().filter(|key| !key.is_empty()) {
            return HubClient::new(url.unwrap_or(DEFAULT_URL), key);
        }
        let profiles = Profiles::read()?;
        let (name, profile) = profiles.current().context(
            "no API key: set HUB_KEY or pass --key (`hub admin network create` prints a network's first key), or sign in by \
             `hub login`",
        )?;
        of_profile(name, profile, url)
    }
}

/// A session is sent to its own hub only.
fn of_profile(name: &str, profile: &Profile, url: Option<&str>) -> anyhow::Result<HubClient> {
    let is_own = |url: &str| url.trim_end_matches('/') == profile.url.trim_end_matches('/');
    ensure!(
        url.is_none_or(is_own),
        "the profile `{name}` is signed in at {}, and --hub (HUB_URL) names another hub: set HUB_KEY for it, or sign in by \
         `hub login`",
        profile.url
    );
    HubClient::of_session(&profile.url, &profile.token, profile.network_id.as_deref())
}
