//! Events in the OpenAPI document.

use strum::{EnumMessage as _, VariantArray as _};
use utoipa::openapi::schema::{
    AllOfBuilder, Discriminator, KnownFormat, ObjectBuilder, OneOfBuilder, SchemaFormat, Type,
};
use utoipa::openapi::{OpenApi, Ref, RefOr, Schema};

use crate::component::EventSchema;
use crate::events::model::EventKind;

/// Schema of any event.
pub const ANY_EVENT: &str = "ServerEvent";

/// Name of an event's schema: `ChatEvent` for `CHAT`.
fn schema_name(event: &str) -> String {
    let word = |word: &str| {
        let (first, rest) = word.split_at(1);
        format!("{first}{}", rest.to_lowercase())
    };
    format!("{}Event", event.split('_').map(word).collect::<String>())
}

/// Fields common to all events.
fn common_fields(name: &str) -> ObjectBuilder {
    let kind = ObjectBuilder::new().schema_type(Type::String).enum_values(Some([name]));
    let at = ObjectBuilder::new()
        .schema_type(Type::Integer)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
        .description(Some("Time of the event, in milliseconds since the Unix epoch."))
        .examples([1_804_680_000_000_i64]);
    ObjectBuilder::new().property("type", kind).required("type").property("at", at).required("at")
}

fn event_schema(kind: EventKind, payload: &str) -> RefOr<Schema> {
    let description = kind.get_documentation().unwrap_or_default();
    AllOfBuilder::new()
        .description(Some(description))
        .item(Ref::from_schema_name(payload))
        .item(common_fields(kind.name()))
        .into()
}

/// Adds the schemas of all events, and of any event.
pub fn add_to(document: &mut OpenApi, events: &[EventSchema]) {
    let Some(components) = &mut document.components else { return };
    let mut any = OneOfBuilder::new().description(Some("Event: the `data:` of a frame of the stream."));
    let mut discriminator = Discriminator::new("type");
    let mut add = |name: &str, schema: RefOr<Schema>| {
        let title = schema_name(name);
        let reference = Ref::from_schema_name(&title);
        discriminator.mapping.insert(name.to_owned(), reference.ref_location.clone());
        any = std::mem::take(&mut any).item(reference);
        components.schemas.insert(title, schema);
    };
    let mut payloads = vec![];
    for kind in EventKind::VARIANTS {
        if let Some(event) = events.iter().find(|event| event.kind == kind.name()) {
            add(kind.name(), event_schema(*kind, &event.payload));
            payloads.extend(event.schemas.iter().cloned());
        }
    }
    let ping = common_fields("PING").description(Some("Sent every 15 seconds, to detect dead connections."));
    add("PING", ping.into());
    let resync = common_fields("RESYNC").description(Some("Missed events are no longer available: reload all data."));
    add("RESYNC", resync.into());
    for (name, schema) in payloads {
        components.schemas.entry(name).or_insert(schema);
    }
    let any = any.discriminator(Some(discriminator));
    components.schemas.insert(ANY_EVENT.to_owned(), any.into());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_is_named_as_its_event() {
        assert_eq!(schema_name("CHAT"), "ChatEvent");
        assert_eq!(schema_name("SIGNING_SECRET_ROTATED"), "SigningSecretRotatedEvent");
        assert!(EventKind::VARIANTS.iter().all(|kind| kind.get_documentation().is_some()));
    }
}
