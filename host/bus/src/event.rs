use crate::id::EventId;
use bytes::Bytes;

/// An event of a network, for its streams.
#[derive(Debug, Clone)]
pub struct Event {
    /// The frame's `event:`, in upper case (`CHAT`).
    pub name: &'static str,
    /// The only server whose stream gets the event; `None` sends it to every stream.
    pub target: Option<String>,
    /// The frame's `data:`, one JSON object on one line.
    pub data: String,
}

/// An [`Event`] with borrowed texts.
#[derive(Debug, Clone, Copy)]
pub struct EventRef<'e> {
    /// See [`Event::name`].
    pub name: &'e str,
    /// See [`Event::target`].
    pub target: Option<&'e str>,
    /// See [`Event::data`].
    pub data: &'e str,
}

/// An event that was stored before it is published, so that a restarted process may publish it again.
#[derive(Debug, Clone, Copy)]
pub struct StoredEvent<'e> {
    /// Distinguishes it from the network's other events: published again within the retention, it is on streams once. A
    /// bus of one process does not read it, because its events end with the process.
    pub message_id: &'e str,
    /// True if it is left over from an earlier process.
    pub is_left_over: bool,
    /// The event itself.
    pub event: EventRef<'e>,
}

/// Reason for which an event was not published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PublishError {
    /// The name is not upper-case letters and underscores, or the data has a line break: either could forge further
    /// frames in the stream.
    #[error("malformed event: the name must be in upper case and the data one line")]
    Malformed,
    /// The bus, or this network's part of it, was closed.
    #[error("the event bus is closed")]
    Closed,
    /// The bus between nodes can't be reached.
    #[error("the event bus can't be reached")]
    Unreachable,
    /// It exceeds the message size of the bus between nodes.
    #[error("the event is too large for the event bus")]
    TooLarge,
}

/// An event that the cluster's stream has numbered.
pub(crate) struct NumberedEvent {
    pub(crate) sequence: u64,
    pub(crate) name: String,
    pub(crate) target: Option<String>,
    pub(crate) at_ms: i64,
    pub(crate) data: Bytes,
}

impl<'e> From<&'e Event> for EventRef<'e> {
    fn from(event: &'e Event) -> Self {
        Self { name: event.name, target: event.target.as_deref(), data: &event.data }
    }
}

impl EventRef<'_> {
    pub(crate) fn check(&self) -> Result<(), PublishError> {
        let named = !self.name.is_empty() && self.name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
        let one_line = !self.data.bytes().any(|byte| matches!(byte, b'\n' | b'\r'));
        (named && one_line).then_some(()).ok_or(PublishError::Malformed)
    }
}

/// The frame that tells a client to reload everything; its id is the stream's current position.
pub(crate) fn resync(head: EventId, now_ms: i64) -> Bytes {
    frame(head, "RESYNC", &format!(r#"{{"type":"RESYNC","at":{now_ms}}}"#))
}

/// A frame with the id of another and only a comment, of the same length: readers count bytes.
pub(crate) fn empty_frame(frame: &Bytes) -> Bytes {
    let id = frame.iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let mut empty = frame[..id].to_vec();
    let padding = frame.len().saturating_sub(id + 3);
    empty.push(b':');
    empty.extend(std::iter::repeat_n(b' ', padding));
    empty.extend(b"\n\n");
    Bytes::from(empty)
}

/// An event as streams send it.
pub(crate) fn frame(id: EventId, name: &str, data: &(impl AsRef<[u8]> + ?Sized)) -> Bytes {
    let id = id.to_string();
    Bytes::from([b"id: ", id.as_bytes(), b"\nevent: ", name.as_bytes(), b"\ndata: ", data.as_ref(), b"\n\n"].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event<'e>(name: &'e str, data: &'e str) -> EventRef<'e> {
        EventRef { name, target: None, data }
    }

    #[test]
    fn a_frame_has_an_id_a_name_and_data() {
        let id = EventId { epoch: 7, sequence: 12 };
        let sent = frame(id, "CHAT", r#"{"type":"CHAT","at":5}"#);
        assert_eq!(sent, "id: 7.12\nevent: CHAT\ndata: {\"type\":\"CHAT\",\"at\":5}\n\n");
    }

    #[test]
    fn an_empty_frame_keeps_id_and_length() {
        let sent = frame(EventId { epoch: 7, sequence: 12 }, "CHAT", r#"{"type":"CHAT","at":5}"#);
        let empty = empty_frame(&sent);
        assert_eq!(empty.len(), sent.len());
        let text = std::str::from_utf8(&empty).unwrap();
        let comment = text.strip_prefix("id: 7.12\n:").and_then(|rest| rest.strip_suffix("\n\n")).unwrap();
        assert!(comment.chars().all(|character| character == ' '));
    }

    #[test]
    fn a_line_break_cannot_forge_a_second_frame() {
        for (name, data) in [
            ("CHAT", "{}\n\nevent: TRANSFER"),
            ("CHAT", "{}\r\rdata: {}"),
            ("CHAT\ndata: {}", "{}"),
            ("", "{}"),
            ("chat", "{}"),
        ] {
            assert_eq!(event(name, data).check(), Err(PublishError::Malformed), "{name:?} {data:?}");
        }
        assert_eq!(event("WORLD_READY", r#"{"a":"\n"}"#).check(), Ok(()));
    }
}
