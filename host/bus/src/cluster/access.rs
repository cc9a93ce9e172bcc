//! Addresses of the bus, and this hub's credentials. Passwords are taken out of the addresses, so that no message shows
//! them.

use std::path::Path;

use async_nats::{ConnectOptions, ServerAddr};
use percent_encoding::percent_decode_str;

use super::settings::{ClusterConfig, ClusterError};

/// The servers of the bus, without credentials.
pub(super) struct Access {
    pub(super) servers: Vec<ServerAddr>,
    login: Option<Login>,
}

/// Credentials in front of the host of an address.
#[derive(PartialEq)]
enum Login {
    Password { user: String, password: String },
    Token(String),
}

impl Access {
    /// Parses the addresses of `url`. The credentials are in the first one, or the same in each.
    pub(super) fn parse(url: &str) -> Result<Self, ClusterError> {
        let mut access = Self { servers: Vec::new(), login: None };
        for (index, address) in url.split(',').map(str::trim).enumerate() {
            let (login, address) = split_login(address);
            if index == 0 {
                access.login = login;
            } else if login.is_some() && login != access.login {
                return Err(ClusterError::Address(
                    "all its addresses take the same credentials (a comma in them is %2C)",
                ));
            }
            let server = address.parse::<ServerAddr>().ok().filter(|server| !server.host().is_empty());
            let server = server.filter(|server| ["nats", "tls"].contains(&server.scheme()));
            access
                .servers
                .push(server.ok_or(ClusterError::Address("it reads as nats://HOST:PORT or tls://HOST:PORT"))?);
        }
        Ok(access)
    }

    /// Adds this hub's credentials, and the servers' certificate authority.
    pub(super) async fn apply(
        &mut self,
        options: ConnectOptions,
        config: &ClusterConfig,
    ) -> Result<ConnectOptions, ClusterError> {
        let mut options = match self.login.take() {
            Some(_) if config.credentials.is_some() => {
                return Err(ClusterError::Address("its address names credentials, and so does a file"));
            }
            Some(Login::Password { user, password }) => options.user_and_password(user, password),
            Some(Login::Token(token)) => options.token(token),
            None => options,
        };
        if let Some(file) = &config.credentials {
            options = with_credentials(options, file).await?;
        }
        if let Some(ca) = &config.ca {
            check_readable(ca).await?;
            // Without TLS, the file would prove nothing.
            options = options.add_root_certificates(ca.clone()).require_tls(true);
        }
        Ok(options)
    }

    /// The addresses, for messages.
    pub(super) fn describe(&self) -> String {
        self.servers.iter().map(ServerAddr::as_url_str).collect::<Vec<_>>().join(", ")
    }
}

fn split_login(address: &str) -> (Option<Login>, String) {
    let (scheme, rest) = address.split_once("://").unwrap_or(("nats", address));
    let Some((login, host)) = rest.rsplit_once('@') else { return (None, format!("{scheme}://{rest}")) };
    let decode = |text| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let login = match login.split_once(':') {
        Some((user, password)) => Login::Password { user: decode(user), password: decode(password) },
        None => Login::Token(decode(login)),
    };
    (Some(login), format!("{scheme}://{host}"))
}

async fn check_readable(file: &Path) -> Result<String, ClusterError> {
    let text = tokio::fs::read_to_string(file).await;
    text.map_err(|error| ClusterError::File(file.display().to_string(), error))
}

/// A `.creds` file, or the seed of an nkey.
async fn with_credentials(options: ConnectOptions, file: &Path) -> Result<ConnectOptions, ClusterError> {
    let text = check_readable(file).await?;
    if text.contains("NATS USER JWT") {
        return options.credentials(&text).map_err(|error| ClusterError::File(file.display().to_string(), error));
    }
    let seed = text.lines().map(str::trim).find(|line| line.starts_with("SU"));
    let seed = seed.ok_or_else(|| {
        let reason = "it holds neither NATS credentials (.creds) nor the seed of a user's nkey (SU…)";
        ClusterError::File(file.display().to_string(), std::io::Error::other(reason))
    })?;
    Ok(options.nkey(seed.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(url: &str) -> Result<(String, Option<(String, String)>), String> {
        let access = Access::parse(url).map_err(|error| error.to_string())?;
        let login = access.login.as_ref().map(|login| match login {
            Login::Password { user, password } => (user.clone(), password.clone()),
            Login::Token(token) => ("token".to_owned(), token.clone()),
        });
        Ok((access.describe(), login))
    }

    #[test]
    fn credentials_are_taken_out_of_addresses() {
        let login = |user: &str, secret: &str| Some((user.to_owned(), secret.to_owned()));
        let read = |url| parsed(url).unwrap();
        assert_eq!(read("nats://nats:4222"), ("nats://nats:4222".to_owned(), None));
        assert_eq!(read("nats"), ("nats://nats".to_owned(), None));
        assert_eq!(read("tls://hub:s%40fe@nats"), ("tls://nats".to_owned(), login("hub", "s@fe")));
        assert_eq!(read("hub:a@b/c@nats:1"), ("nats://nats:1".to_owned(), login("hub", "a@b/c")));
        assert_eq!(read("nats://t0ken@nats"), ("nats://nats".to_owned(), login("token", "t0ken")));
        let both = "nats://a:1, nats://b:2".to_owned();
        assert_eq!(read("nats://u:p@a:1, nats://b:2"), (both.clone(), login("u", "p")));
        assert_eq!(read("nats://u:p@a:1,u:p@b:2"), (both, login("u", "p")));
    }

    #[test]
    fn no_error_shows_a_password() {
        for url in
            ["nats://u:s3cret@a,nats://u:other@b", "http://u:s3cret@a", "nats://u:s3cret,x@a", "nats://u:s3cret@"]
        {
            let error = parsed(url).unwrap_err();
            assert!(!error.contains("s3cret") && error.contains("bus"), "{error}");
        }
    }
}
