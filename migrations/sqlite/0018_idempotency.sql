-- Answers that were given under an Idempotency-Key.
CREATE TABLE idempotency_keys (
    network_id      BLOB    NOT NULL,
    idempotency_key TEXT    NOT NULL,
    -- SHA-256 of the request's path, query and body.
    fingerprint     BLOB    NOT NULL,
    created_at      INTEGER NOT NULL,
    status          INTEGER NOT NULL,
    content_type    TEXT,
    -- Of an error, whose sentence is the body.
    error_code      TEXT,
    body            BLOB    NOT NULL,
    PRIMARY KEY (network_id, idempotency_key)
) WITHOUT ROWID;

-- What is old goes for all networks together.
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
