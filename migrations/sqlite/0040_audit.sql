-- Who changed what in a network, written with each change and never changed.
CREATE TABLE audit_log (
    network_id   BLOB    NOT NULL,
    -- Rises with time: fifteen hexadecimal digits of the microseconds since the epoch, then six characters against doubles.
    id           TEXT    NOT NULL,
    at           INTEGER NOT NULL,
    actor_type   TEXT    NOT NULL,
    actor_id     TEXT    NOT NULL,
    actor_name   TEXT    NOT NULL,
    action       TEXT    NOT NULL,
    target       TEXT    NOT NULL,
    -- JSON without secrets; null: there was, or is, nothing.
    value_before TEXT,
    value_after  TEXT,
    request_id   TEXT,
    address      TEXT,
    PRIMARY KEY (network_id, id)
);
CREATE INDEX audit_log_by_actor ON audit_log (network_id, actor_id, id);
CREATE INDEX audit_log_by_action ON audit_log (network_id, action, id);
