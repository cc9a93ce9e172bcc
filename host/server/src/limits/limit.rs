//! The table of all bounds.

macro_rules! limits {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal, $bound:expr;)+) => {
        /// What is limited, by the name that the wire and the documentation use.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::Display, strum::IntoStaticStr, strum::VariantArray)]
        pub enum Limit {
            $($(#[doc = $doc])+ #[strum(serialize = $name)] $variant),+
        }

        impl Limit {
            /// The most that any network may have, whatever its plan.
            pub const fn bound(self) -> i64 {
                match self {
                    $(Self::$variant => $bound),+
                }
            }

            /// As the wire writes it.
            pub fn name(self) -> &'static str {
                self.into()
            }

            /// What is counted, as the documentation says it.
            pub fn description(self) -> &'static str {
                match self {
                    $(Self::$variant => concat!($($doc),+).trim_ascii()),+
                }
            }
        }
    };
}

limits! {
    /// Servers that are registered.
    Servers = "servers", 1_000;
    /// API keys that are neither revoked nor expired.
    Keys = "keys", 1_000;
    /// Bytes of players' data, documents, config documents, the catalog and modules' stores, with 64 for each row.
    StorageBytes = "storageBytes", 1 << 40;
}
