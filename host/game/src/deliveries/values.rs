//! Values of deliveries that are valid by construction.

use crate::text_type::text_type;

text_type! {
    /// Kind of a delivery, by which plugins tell what to do: 1 to 64 characters, not blank, no control characters.
    pub struct DeliveryKind;
    check: |text| match text {
        _ if text.trim().is_empty() => Err("must not be blank"),
        _ if text.chars().count() > 64 => Err("must be at most 64 characters"),
        _ if text.chars().any(char::is_control) => Err("must not contain control characters"),
        _ => Ok(()),
    };
    schema: |text| text.min_length(Some(1)).max_length(Some(64)).examples(["kit"]);
}

text_type! {
    /// Caller's own name for a delivery, such as an order's number: 1 to 128 characters, not blank, no control
    /// characters.
    pub(super) struct Reference;
    check: |text| match text {
        _ if text.trim().is_empty() => Err("must not be blank"),
        _ if text.chars().count() > 128 => Err("must be at most 128 characters"),
        _ if text.chars().any(char::is_control) => Err("must not contain control characters"),
        _ => Ok(()),
    };
    schema: |text| text.min_length(Some(1)).max_length(Some(128)).examples(["order-4711"]);
}

text_type! {
    /// A claim as answered: a secret of the server that claimed the delivery.
    pub struct ClaimText;
    check: |text| if text.chars().count() > 200 { Err("must be at most 200 characters") } else { Ok(()) };
    schema: |text| text.max_length(Some(200)).examples(["42.mZ0fQ7…"]);
}
