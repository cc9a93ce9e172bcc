CREATE TABLE networks (
    network_id     BLOB    NOT NULL PRIMARY KEY,
    name           TEXT    NOT NULL UNIQUE,
    plan           TEXT    NOT NULL,
    suspended      BOOLEAN NOT NULL,
    signing_secret TEXT    NOT NULL,
    created_at     INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE api_keys (
    network_id      BLOB    NOT NULL,
    key_id          TEXT    NOT NULL,
    name            TEXT    NOT NULL,
    scopes          TEXT    NOT NULL,
    sha256          BLOB    NOT NULL,
    previous_sha256 BLOB,
    previous_until  INTEGER,
    created_at      INTEGER NOT NULL,
    expires_at      INTEGER,
    revoked_at      INTEGER,
    last_used_at    INTEGER,
    PRIMARY KEY (network_id, key_id)
) WITHOUT ROWID;

-- A caller is known by the key alone, before the network is.
CREATE UNIQUE INDEX api_keys_by_id ON api_keys (key_id);
