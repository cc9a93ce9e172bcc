-- Answers that were given under an Idempotency-Key.
CREATE TABLE idempotency_keys (
    network_id      UUID   NOT NULL,
    idempotency_key TEXT   NOT NULL,
    -- SHA-256 of the request's path, query and body.
    fingerprint     BYTEA  NOT NULL,
    created_at      BIGINT NOT NULL,
    status          BIGINT NOT NULL,
    content_type    TEXT,
    -- Of an error, whose sentence is the body.
    error_code      TEXT,
    body            BYTEA  NOT NULL,
    PRIMARY KEY (network_id, idempotency_key)
);

-- What is old goes for all networks together.
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
