-- One row per uploaded version. Its bytes are in module_code, so that lists do not drag them along.
CREATE TABLE modules (
    network_id    BLOB    NOT NULL,
    name          TEXT    NOT NULL,
    version       INTEGER NOT NULL,
    sha256        TEXT    NOT NULL,
    component_id  TEXT,
    size_bytes    INTEGER NOT NULL,
    points        TEXT    NOT NULL,
    world_version TEXT,
    state         TEXT    NOT NULL,
    reason        TEXT,
    created_at    INTEGER NOT NULL,
    PRIMARY KEY (network_id, name, version)
) WITHOUT ROWID;

-- The same bytes again are the same version.
CREATE UNIQUE INDEX modules_by_sha256 ON modules (network_id, name, sha256);

-- Outlives the versions, so that a number is never used again.
CREATE TABLE module_names (
    network_id   BLOB    NOT NULL,
    name         TEXT    NOT NULL,
    last_version INTEGER NOT NULL,
    PRIMARY KEY (network_id, name)
) WITHOUT ROWID;

-- upload: as it was sent; component: what a core module was wrapped into. Rows are large: not WITHOUT ROWID.
CREATE TABLE module_code (
    network_id BLOB    NOT NULL,
    name       TEXT    NOT NULL,
    version    INTEGER NOT NULL,
    upload     BLOB    NOT NULL,
    component  BLOB,
    PRIMARY KEY (network_id, name, version)
);

-- chain, previous: JSON lists of links.
CREATE TABLE extension_points (
    network_id BLOB    NOT NULL,
    point      TEXT    NOT NULL,
    revision   INTEGER NOT NULL,
    chain      TEXT    NOT NULL,
    previous   TEXT    NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (network_id, point)
) WITHOUT ROWID;

-- Keys and values are bytes because a module may put U+0000 into either. A whole number is in number, where one
-- statement can add to it; anything else is in value.
CREATE TABLE module_store (
    network_id BLOB    NOT NULL,
    module     TEXT    NOT NULL,
    key        BLOB    NOT NULL,
    value      BLOB,
    number     INTEGER,
    expires_at INTEGER,
    size       INTEGER NOT NULL,
    PRIMARY KEY (network_id, module, key)
) WITHOUT ROWID;

CREATE INDEX module_store_by_expiry ON module_store (network_id, module, expires_at);

CREATE TABLE module_store_usage (
    network_id BLOB    NOT NULL,
    module     TEXT    NOT NULL,
    bytes      INTEGER NOT NULL,
    PRIMARY KEY (network_id, module)
) WITHOUT ROWID;
