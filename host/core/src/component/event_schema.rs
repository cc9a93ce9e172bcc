//! Events in the API document.

use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};

/// Data of an event besides its name and time.
#[derive(Clone)]
pub struct EventSchema {
    /// Name of the event.
    pub kind: &'static str,
    /// Name of the payload's schema.
    pub payload: String,
    /// The payload's schema and those it refers to, by name.
    pub schemas: Vec<(String, RefOr<Schema>)>,
}

impl EventSchema {
    /// Event with a payload of type `T`.
    pub fn of<T: ToSchema>(kind: impl Into<&'static str>) -> Self {
        let mut schemas = vec![(T::name().into_owned(), T::schema())];
        T::schemas(&mut schemas);
        Self { kind: kind.into(), payload: T::name().into_owned(), schemas }
    }
}
