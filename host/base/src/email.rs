//! E-mail addresses.

use std::str::FromStr;

use lettre::Address;
use serde::{Deserialize, Deserializer, de};
use unicode_security::{GeneralSecurityProfile as _, MixedScript as _, skeleton};
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// Address that can receive mail.
#[derive(Clone, Debug)]
pub struct Email(Address);

impl Email {
    /// Address as entered.
    pub fn as_str(&self) -> &str {
        self.0.as_ref()
    }

    /// Form for comparing addresses.
    pub fn folded(&self) -> String {
        fold(self.as_str())
    }
}

/// Form for comparing addresses: mailboxes are hardly ever case-sensitive.
pub fn fold(email: &str) -> String {
    email.to_lowercase()
}

impl FromStr for Email {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.len() > 254 {
            return Err("must be at most 254 characters".to_owned());
        }
        let address: Address = text.parse().map_err(|_| "must be an e-mail address".to_owned())?;
        if text.contains(char::is_control) {
            return Err("must not contain control characters".to_owned());
        }
        if !text.is_ascii() && !is_unambiguous(text) {
            return Err("must not contain invisible or mixed characters that imitate others".to_owned());
        }
        // Some Unicode letters, such as the Kelvin sign, have the lower case of a letter in another person's address.
        if !text.is_ascii() && fold(text).is_ascii() {
            return Err("must not contain letters that imitate another address".to_owned());
        }
        Ok(Self(address))
    }
}

/// True if no part of the address looks like another one, by UTS 39: each has letters of one script, none of them is
/// invisible or rare, and they do not all have twins in ASCII.
fn is_unambiguous(address: &str) -> bool {
    let is_allowed = |character: char| character.is_ascii() || character.identifier_allowed();
    address.chars().all(is_allowed)
        && address.split(['@', '.']).all(|part| {
            part.is_single_script() && (part.is_ascii() || !skeleton(part).all(|character| character.is_ascii()))
        })
}

impl<'de> Deserialize<'de> for Email {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl PartialSchema for Email {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Email)))
            .pattern(Some(r"^[A-Za-z0-9_+-]{1,64}(\.[A-Za-z0-9_+-]{1,20}){0,3}@[a-z0-9]{1,60}(\.[a-z]{2,20}){1,3}$"))
            .max_length(Some(254))
            .examples(["alex@example.org"])
            .into()
    }
}
impl ToSchema for Email {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_addresses_are_refused() {
        for good in ["alex@example.org", " alex@example.org ", "Alex.Smith+hub@mail.example.co.uk"] {
            assert!(good.parse::<Email>().is_ok(), "{good:?}");
        }
        let long = format!("{}@example.org", "x".repeat(250));
        for bad in
            ["", "alex", "alex@", "@example.org", "a b@example.org", "a@b\r\nRcpt-To: c@d", "a@b,c@d", "a@b c", &long]
        {
            assert!(bad.parse::<Email>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn no_address_is_compared_as_that_of_another_mailbox() {
        "jos\u{e9}@example.org".parse::<Email>().unwrap();
        for bad in ["\u{212a}im@example.org", "kim@e\u{212a}ample.org"] {
            assert!(fold(bad).is_ascii());
            assert!(bad.parse::<Email>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn no_address_looks_like_another() {
        for good in
            ["jos\u{e9}@example.org", "\u{438}\u{432}\u{430}\u{43d}@example.org", "\u{592a}\u{90ce}@example.org"]
        {
            good.parse::<Email>().unwrap();
        }
        for bad in [
            "admin@example.org\u{200b}",
            "ad\u{200b}min@example.org",
            "\u{202e}gro.elpmaxe@nimda",
            "adm\u{456}n@example.org",
            "admin@ex\u{ad}ample.org",
            "admin@ex\u{430}mple.org",
            // All Cyrillic, and yet like `coco`.
            "\u{441}\u{43e}\u{441}\u{43e}@example.org",
            "a\u{fe0f}@example.org",
        ] {
            assert!(bad.parse::<Email>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn case_does_not_matter() {
        assert_eq!("Alex@Example.org".parse::<Email>().unwrap().folded(), "alex@example.org");
    }
}
