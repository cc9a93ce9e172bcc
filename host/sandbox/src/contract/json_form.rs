//! Fields whose JSON differs from their form in the contract.

/// Ten-thousandths, which are decimals in JSON.
pub(super) mod decimal {
    use serde::{Deserialize, Deserializer, Serializer, de};
    use serde_json::Number;

    const PARTS: f64 = 10_000.0;
    /// Integers up to this are exact in JSON.
    const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

    // The signature of serde.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    pub(in crate::contract) fn serialize<S: Serializer>(amount: &i64, serializer: S) -> Result<S::Ok, S::Error> {
        if amount % 10_000 == 0 {
            return serializer.serialize_i64(amount / 10_000);
        }
        serializer.serialize_f64(*amount as f64 / PARTS)
    }

    pub(in crate::contract) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
        let number = Number::deserialize(deserializer)?;
        let too_large = || de::Error::custom("the amount is too large");
        if let Some(whole) = number.as_i64() {
            return whole.checked_mul(10_000).ok_or_else(too_large);
        }
        let parts = number.as_f64().ok_or_else(too_large)? * PARTS;
        let whole = parts.round();
        if whole.abs() > MAX_EXACT {
            return Err(too_large());
        }
        if (parts - whole).abs() > 0.001 {
            return Err(de::Error::custom("an amount has at most four decimals"));
        }
        Ok(whole as i64)
    }
}

/// Texts of JSON, which are JSON values in JSON.
pub(super) mod json_text {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use serde_json::Value;

    fn value(text: &str) -> Value {
        serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
    }

    pub(in crate::contract) fn serialize<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
        value(text).serialize(serializer)
    }

    pub(in crate::contract) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
        Ok(Value::deserialize(deserializer)?.to_string())
    }

    /// An optional text.
    pub(in crate::contract) mod option {
        use super::value;
        use serde::{Deserialize, Deserializer, Serialize, Serializer};
        use serde_json::Value;

        // The signature of serde.
        #[allow(clippy::ref_option)]
        pub(in crate::contract) fn serialize<S: Serializer>(
            text: &Option<String>,
            serializer: S,
        ) -> Result<S::Ok, S::Error> {
            text.as_deref().map(value).serialize(serializer)
        }

        pub(in crate::contract) fn deserialize<'de, D: Deserializer<'de>>(
            deserializer: D,
        ) -> Result<Option<String>, D::Error> {
            Ok(Option::<Value>::deserialize(deserializer)?.map(|value| value.to_string()))
        }
    }
}
