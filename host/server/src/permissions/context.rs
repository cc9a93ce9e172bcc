//! Where a node applies, and where its asker is.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Deserializer, Serialize, de};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// The longest context or world, in characters.
const MOST_CHARACTERS: usize = 255;
/// Alone, it means everywhere, as an absent one does.
const EVERYWHERE: &str = "global";

/// Where something is: `key=value` pairs with commas between, such as `server=lobby,gamemode=skyblock`. A word without
/// `=` is a server. Compared without case. Blank or `global` is everywhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Context(String);

/// The world something is in. Compared without case. Blank or `global` is everywhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct World(String);

fn checked(text: String) -> Result<String, String> {
    if text.chars().count() > MOST_CHARACTERS {
        return Err(format!("must be at most {MOST_CHARACTERS} characters"));
    }
    if text.chars().any(char::is_control) {
        return Err("must not contain control characters".to_owned());
    }
    Ok(text)
}

impl Context {
    /// As it was sent.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn pairs(&self) -> impl Iterator<Item = (String, String)> {
        let named = !self.0.trim().eq_ignore_ascii_case(EVERYWHERE);
        self.0.split(',').filter(move |pair| named && !pair.trim().is_empty()).map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or(("server", pair));
            (key.trim().to_lowercase(), value.trim().to_lowercase())
        })
    }
}

impl TryFrom<String> for Context {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let context = Self(checked(text)?);
        if context.pairs().any(|(key, value)| key.is_empty() || value.is_empty()) {
            return Err("must be `key=value` pairs with commas between, such as `server=lobby`".to_owned());
        }
        Ok(context)
    }
}

impl World {
    /// As it was sent.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn pair(&self) -> Option<(String, String)> {
        let name = self.0.trim().to_lowercase();
        (!name.is_empty() && name != EVERYWHERE).then(|| ("world".to_owned(), name))
    }
}

impl TryFrom<String> for World {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        checked(text).map(Self)
    }
}

macro_rules! on_the_wire {
    ($($name:ident),+) => {$(
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.try_into().map_err(de::Error::custom)
            }
        }

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                ObjectBuilder::new().schema_type(Type::String).max_length(Some(MOST_CHARACTERS)).into()
            }
        }
        // Servers have a `World` of their own.
        impl ToSchema for $name {
            fn name() -> std::borrow::Cow<'static, str> {
                concat!("Permission", stringify!($name)).into()
            }
        }
    )+};
}
on_the_wire!(Context, World);

/// The values of each key: those a node asks for, or those its asker has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contexts(BTreeMap<String, BTreeSet<String>>);

impl Contexts {
    /// A context and a world together.
    pub fn new(context: Option<&Context>, world: Option<&World>) -> Self {
        let mut all = Self::default();
        for (key, value) in context.into_iter().flat_map(Context::pairs).chain(world.and_then(World::pair)) {
            all.0.entry(key).or_default().insert(value);
        }
        all
    }

    /// How many pairs there are.
    pub fn len(&self) -> usize {
        self.0.values().map(BTreeSet::len).sum()
    }

    /// Everywhere.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a key is among them.
    pub fn names(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// Whether what applies here applies to `asker`: of each key, who asks must have one of the values.
    pub fn admit(&self, asker: &Self) -> bool {
        self.0.iter().all(|(key, values)| asker.0.get(key).is_some_and(|has| !has.is_disjoint(values)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contexts(context: &str, world: &str) -> Contexts {
        let context = Context::try_from(context.to_owned()).unwrap();
        Contexts::new(Some(&context), Some(&World::try_from(world.to_owned()).unwrap()))
    }

    #[test]
    fn a_context_is_read_as_it_is_meant() {
        assert_eq!(contexts("lobby", ""), contexts(" Server = LOBBY ,", "global"));
        assert_eq!(contexts("", "Nether"), contexts("world=nether", ""));
        assert!(contexts("Global", "").is_empty() && contexts(" ", " ").is_empty());
        assert_eq!(contexts("server=a,server=b,server=A", "w").len(), 3);
        for wrong in ["=", "server=", "=lobby", "a,b=", "x\u{7}", &"x".repeat(256)] {
            assert!(Context::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn one_value_of_each_key_is_enough() {
        let node = contexts("server=a,server=b", "nether");
        assert!(node.admit(&contexts("server=b,gamemode=x", "Nether")));
        assert!(!node.admit(&contexts("server=b", "end")));
        assert!(!node.admit(&contexts("", "nether")));
        assert!(Contexts::default().admit(&Contexts::default()));
    }
}
