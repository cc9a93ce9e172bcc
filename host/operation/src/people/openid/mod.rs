//! Signing in by OpenID Connect: the operator's provider, and the browser's state during a sign-in there.
//!
//! Invariants: the hub keeps no state of a sign-in but for those that wait for a code, in the database, so that any node
//! finishes it; an answer of the provider counts only
//! in the browser that asked for it, for ten minutes; a person is identified by the provider's subject, and by the
//! address only until their first sign-in.

mod flow;
mod http;
mod provider;
mod second_factor;

use anyhow::Context as _;
use openidconnect::{ClientId, ClientSecret, IssuerUrl, RedirectUrl};

pub(super) use flow::{FLOW_TTL, Flow, ReturnPath};
pub(super) use provider::OpenIdError;
pub(super) use provider::{Identity, Provider};
pub(super) use second_factor::{PENDING_TTL, Pending, new_token};

use crate::config::Settings;
use crate::http::hub_url::is_loopback;

/// Path to which the provider returns people.
pub(super) const CALLBACK: &str = "/api/people/openid/callback";

/// Settings agreed on with the provider.
struct OpenIdSettings {
    issuer: IssuerUrl,
    client_id: ClientId,
    client_secret: ClientSecret,
    callback: RedirectUrl,
}

impl OpenIdSettings {
    /// Settings of OpenID Connect; none if people sign in by passwords alone.
    ///
    /// # Errors
    /// Fails if some of the options are missing, or an address is invalid.
    fn of(settings: &Settings) -> anyhow::Result<Option<Self>> {
        let options = [
            ("--oidc-issuer", &settings.oidc_issuer),
            ("--oidc-client-id", &settings.oidc_client_id),
            ("--oidc-client-secret", &settings.oidc_client_secret),
        ];
        let [(_, Some(issuer)), (_, Some(id)), (_, Some(secret))] = options else {
            let missing: Vec<_> = options.iter().filter(|(_, value)| value.is_none()).map(|(name, _)| *name).collect();
            anyhow::ensure!(missing.len() == options.len(), "OpenID Connect also needs {}", missing.join(" and "));
            return Ok(None);
        };
        anyhow::ensure!(
            settings.public_url.is_some(),
            "OpenID Connect needs --public-url: the hub's address, to which the provider returns people"
        );
        let issuer =
            IssuerUrl::new(issuer.clone()).context("--oidc-issuer must be a URL such as https://id.example")?;
        let url = issuer.url();
        // An attacker who can change the provider's answers about its keys can sign in as anyone.
        let is_safe = url.scheme() == "https" || (url.scheme() == "http" && url.host_str().is_some_and(is_loopback));
        anyhow::ensure!(is_safe, "--oidc-issuer must begin with https://, except for a provider on the same machine");
        Ok(Some(Self {
            issuer,
            client_id: ClientId::new(id.clone()),
            client_secret: ClientSecret::new(secret.clone()),
            callback: RedirectUrl::new(settings.url(CALLBACK)).context("--public-url")?,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(options: [Option<&str>; 4]) -> Settings {
        let [oidc_issuer, oidc_client_id, oidc_client_secret, public_url] = options.map(|it| it.map(str::to_owned));
        Settings { public_url, oidc_issuer, oidc_client_id, oidc_client_secret, ..Settings::default() }
    }

    #[test]
    fn incomplete_options_are_refused_by_name() {
        let refused = |options| OpenIdSettings::of(&settings(options)).map(|_| ()).unwrap_err().to_string();
        let (issuer, hub) = (Some("https://id.example/"), Some("https://hub.example"));
        assert_eq!(refused([issuer, None, Some("s"), hub]), "OpenID Connect also needs --oidc-client-id");
        assert_eq!(
            refused([None, Some("hub"), None, hub]),
            "OpenID Connect also needs --oidc-issuer and --oidc-client-secret"
        );
        assert!(refused([issuer, Some("hub"), Some("s"), None]).contains("--public-url"));
        for wrong in ["id.example", "ftp://id.example", "http://id.example", "https://"] {
            assert!(refused([Some(wrong), Some("hub"), Some("s"), hub]).contains("--oidc-issuer"), "{wrong}");
        }
        assert!(OpenIdSettings::of(&settings([None, None, None, hub])).unwrap().is_none());
        for issuer in ["https://id.example/", "http://127.0.0.1:9000", "http://localhost/realms/x"] {
            let read = OpenIdSettings::of(&settings([Some(issuer), Some("hub"), Some("s"), hub])).unwrap().unwrap();
            // A trailing slash is part of an issuer's name.
            assert_eq!(read.issuer.as_str(), issuer);
            assert_eq!(read.callback.as_str(), "https://hub.example/api/people/openid/callback");
        }
    }
}
