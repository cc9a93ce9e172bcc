CREATE TABLE punishments (
    network_id    BLOB    NOT NULL,
    id            INTEGER NOT NULL,
    player_uuid   BLOB,
    player_name   TEXT,
    -- In lower case: names compare without case.
    name_folded   TEXT,
    kind          TEXT    NOT NULL,
    reason        TEXT,
    duration_ms   INTEGER,
    expires_at    INTEGER,
    ip_based      BOOLEAN NOT NULL,
    ip_address    TEXT,
    issuer_uuid   BLOB,
    issuer_name   TEXT,
    issued_at     INTEGER NOT NULL,
    -- OPEN, EXPIRED, REVOKED or DONE.
    state         TEXT    NOT NULL,
    revoked_at    INTEGER,
    revoker_uuid  BLOB,
    revoker_name  TEXT,
    revoke_reason TEXT,
    PRIMARY KEY (network_id, id)
) WITHOUT ROWID;
-- These hold all that is looked at to match an address, so that the row itself need not be.
CREATE INDEX punishments_by_player ON punishments (network_id, player_uuid, ip_based, issued_at);
CREATE INDEX punishments_by_name ON punishments (network_id, name_folded, player_uuid, ip_based, issued_at);
CREATE INDEX punishments_by_address ON punishments (network_id, ip_address);

-- The expiries of all networks are noted together.
CREATE INDEX punishments_due ON punishments (expires_at) WHERE state = 'OPEN' AND expires_at IS NOT NULL;

-- The last id given out in each network.
CREATE TABLE punishment_counters (
    network_id BLOB    NOT NULL PRIMARY KEY,
    last_id    INTEGER NOT NULL
) WITHOUT ROWID;

-- The names a player was seen with.
CREATE TABLE player_names (
    network_id  BLOB    NOT NULL,
    player_uuid BLOB    NOT NULL,
    name_folded TEXT    NOT NULL,
    last_seen   INTEGER NOT NULL,
    PRIMARY KEY (network_id, player_uuid, name_folded)
) WITHOUT ROWID;
CREATE INDEX player_names_by_name ON player_names (network_id, name_folded, player_uuid, last_seen);

-- The addresses a player was seen with.
CREATE TABLE player_addresses (
    network_id  BLOB    NOT NULL,
    player_uuid BLOB    NOT NULL,
    ip_address  TEXT    NOT NULL,
    first_seen  INTEGER NOT NULL,
    last_seen   INTEGER NOT NULL,
    PRIMARY KEY (network_id, player_uuid, ip_address)
) WITHOUT ROWID;
CREATE INDEX player_addresses_by_address ON player_addresses (network_id, ip_address, player_uuid, last_seen);
