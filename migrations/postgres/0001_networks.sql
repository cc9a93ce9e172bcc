CREATE TABLE networks (
    network_id     UUID    NOT NULL PRIMARY KEY,
    name           TEXT    NOT NULL UNIQUE,
    plan           TEXT    NOT NULL,
    suspended      BOOLEAN NOT NULL,
    signing_secret TEXT    NOT NULL,
    created_at     BIGINT  NOT NULL
);

CREATE TABLE api_keys (
    network_id      UUID    NOT NULL,
    key_id          TEXT    NOT NULL,
    name            TEXT    NOT NULL,
    scopes          TEXT    NOT NULL,
    sha256          BYTEA   NOT NULL,
    previous_sha256 BYTEA,
    previous_until  BIGINT,
    created_at      BIGINT  NOT NULL,
    expires_at      BIGINT,
    revoked_at      BIGINT,
    last_used_at    BIGINT,
    PRIMARY KEY (network_id, key_id)
);

-- A caller is known by the key alone, before the network is.
CREATE UNIQUE INDEX api_keys_by_id ON api_keys (key_id);
