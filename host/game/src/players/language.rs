//! A player's language.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::localization::LocaleCode;

/// Source of a player's language.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::EnumString, strum::IntoStaticStr, ToSchema,
)]
#[serde(rename_all = "UPPERCASE", try_from = "String")]
#[strum(serialize_all = "UPPERCASE", ascii_case_insensitive)]
#[schema(as = LanguageSource)]
pub(super) enum Source {
    /// The player chose it: never ask again.
    Player,
    /// It was detected and may be detected again.
    Auto,
}

impl TryFrom<String> for Source {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        text.parse().map_err(|_| "must be PLAYER or AUTO")
    }
}

/// A player's language, and how it is known; none while it was never set.
pub(super) type Language = Option<(LocaleCode, Source)>;

/// A player's language; both fields are null while it was never set, or was unset.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct PlayerLanguage {
    locale: Option<LocaleCode>,
    source: Option<Source>,
}

impl From<Language> for PlayerLanguage {
    fn from(language: Language) -> Self {
        let (locale, source) = language.unzip();
        Self { locale, source }
    }
}
