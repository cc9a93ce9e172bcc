use std::fmt;

/// An event's id, which a client sends back as `Last-Event-ID`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EventId {
    pub(crate) epoch: u64,
    pub(crate) sequence: u64,
}

impl EventId {
    /// Reads `<epoch>.<sequence>`, both in plain decimal digits.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (epoch, sequence) = text.split_once('.')?;
        Some(Self { epoch: decimal(epoch)?, sequence: decimal(sequence)? })
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.epoch, self.sequence)
    }
}

/// `u64::from_str` alone would also accept a leading `+`.
fn decimal(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::EventId;

    #[test]
    fn an_id_round_trips() {
        let id = EventId { epoch: 1_700_000_000_000, sequence: 42 };
        assert_eq!(EventId::parse(&id.to_string()), Some(id));
    }

    #[test]
    fn malformed_ids_are_rejected() {
        for text in
            ["", ".", "1.", ".1", "1", "1.2.3", "-1.2", "1.+2", " 1.2", "1.2\n", "a.b", "1.99999999999999999999"]
        {
            assert_eq!(EventId::parse(text), None, "{text:?}");
        }
    }
}
