-- Both come with PostgreSQL and may be created by the database's owner. docs/players-and-economy.md says what to do
-- where they are missing.
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE EXTENSION IF NOT EXISTS btree_gin;

-- Everybody who was ever seen.
CREATE TABLE players (
    network_id      UUID   NOT NULL,
    player_uuid     UUID   NOT NULL,
    -- Null until a name was said.
    username        TEXT,
    -- In lower case: names compare without case.
    username_folded TEXT,
    game_type       TEXT,
    region          TEXT   NOT NULL,
    country         TEXT,
    first_seen      BIGINT NOT NULL,
    last_seen       BIGINT NOT NULL,
    PRIMARY KEY (network_id, player_uuid)
);
CREATE INDEX players_by_last_seen ON players (network_id, last_seen DESC, player_uuid);
CREATE INDEX players_by_region ON players (network_id, region, last_seen DESC, player_uuid);
CREATE INDEX players_by_username ON players (network_id, username_folded);

-- Finds names by any three characters in a row.
CREATE INDEX player_search ON players USING gin (network_id, username_folded gin_trgm_ops);

-- One JSON text per namespace.
CREATE TABLE player_data (
    network_id  UUID   NOT NULL,
    player_uuid UUID   NOT NULL,
    game_mode   TEXT   NOT NULL,
    namespace   TEXT   NOT NULL,
    data        TEXT   NOT NULL,
    version     BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL,
    PRIMARY KEY (network_id, player_uuid, game_mode, namespace)
);
