//! The part of a larger statement that writes an event.

/// Part of a larger writing statement, equivalent to `insert_if_wanted`: the event `$name` at the time `$now`, with
/// the data `$data`, for each row of `$from`. See [`publish_written`](crate::events::publish_written).
#[macro_export]
macro_rules! insert_event {
    (sqlite, $name:literal, $now:literal, $data:expr, $from:expr) => {
        concat!(
            "INSERT INTO outbox (network_id, name, data, created_at) SELECT $1, ",
            $name,
            ", ",
            $data,
            ", ",
            $now,
            " FROM ",
            $from,
            " AND (EXISTS (SELECT until FROM event_listeners WHERE network_id = $1 AND name = ",
            $name,
            " AND until > ",
            $now,
            ") OR EXISTS (SELECT subscriber FROM event_subscriptions WHERE network_id = $1 AND name = ",
            $name,
            "))"
        )
    };
    // PostgreSQL's statement sees tables as of its start, but the function as of its call: after the change got its
    // transaction number, for which a new stream waits.
    (postgres, $name:literal, $now:literal, $data:expr, $from:expr) => {
        concat!(
            "INSERT INTO outbox (network_id, name, data, created_at) SELECT $1, ",
            $name,
            ", ",
            $data,
            ", ",
            $now,
            " FROM ",
            $from,
            " WHERE is_wanted($1, ",
            $name,
            ", ",
            $now,
            ")"
        )
    };
}
pub use insert_event;
