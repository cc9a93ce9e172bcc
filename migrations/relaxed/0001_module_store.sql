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
