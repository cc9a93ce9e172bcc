-- Events of committed changes that are not published yet.
CREATE TABLE outbox (
    -- Rises with each event and is never used again. Of two changes, the later one's event has the higher number.
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    network_id BLOB    NOT NULL,
    name       TEXT    NOT NULL,
    -- The only server whose stream gets it; null: all of the network's.
    target     TEXT,
    data       TEXT    NOT NULL,
    created_at INTEGER NOT NULL
);

CREATE INDEX outbox_by_network ON outbox (network_id, id);
