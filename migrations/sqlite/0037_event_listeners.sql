-- Which events some stream of a network asks for that are not sent to all: nobody else's are published.
CREATE TABLE event_listeners (
    network_id BLOB    NOT NULL,
    name       TEXT    NOT NULL,
    -- A stream that ended before may still be resumed.
    until      INTEGER NOT NULL,
    PRIMARY KEY (network_id, name)
) WITHOUT ROWID;
