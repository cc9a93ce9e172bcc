//! The module's configuration.

use crate::CallContext;
use serde::de::DeserializeOwned;

/// Reads the module's configuration from a call's context.
///
/// Give every field a default (`#[serde(default)]` on the struct): by default, and in the trial call when a module is
/// uploaded, the configuration is the empty object `{}`.
///
/// # Panics
/// If it does not fit `T`, with the reason and the place in the text: the call counts as failed and its log contains
/// the correction for the owner. Use [`try_config`] to handle it.
#[allow(clippy::expect_used, clippy::panic)] // The panic is logged, so that the owner sees it.
pub fn config<T: DeserializeOwned>(context: &CallContext) -> T {
    match try_config(context) {
        Ok(config) => config,
        Err(why) => panic!("the module's configuration is wrong: {why}"),
    }
}

/// Reads the module's configuration, or returns the reason why it does not fit `T`.
pub fn try_config<T: DeserializeOwned>(context: &CallContext) -> Result<T, String> {
    serde_json::from_str(&context.config).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[derive(serde::Deserialize, Default, PartialEq, Debug)]
    #[serde(default, deny_unknown_fields)]
    struct Config {
        limit: u32,
    }

    #[test]
    fn an_empty_configuration_gives_the_defaults() {
        assert_eq!(config::<Config>(&testing::context("{}")), Config { limit: 0 });
        assert_eq!(config::<Config>(&testing::context(r#"{"limit":3}"#)).limit, 3);
    }

    #[test]
    fn a_wrong_configuration_names_the_field() {
        let why = try_config::<Config>(&testing::context(r#"{"limits":3}"#)).unwrap_err();
        assert!(why.contains("unknown field `limits`"), "{why}");
    }
}
