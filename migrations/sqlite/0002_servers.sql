CREATE TABLE servers (
    network_id       BLOB    NOT NULL,
    server_id        TEXT    NOT NULL,
    server_type      TEXT    NOT NULL,
    game_type        TEXT,
    role             TEXT    NOT NULL,
    display_name     TEXT,
    -- Id and display name in lower case, for searching.
    search_text      TEXT    NOT NULL,
    max_players      INTEGER NOT NULL,
    host             TEXT    NOT NULL,
    port             INTEGER NOT NULL,
    region           TEXT    NOT NULL,
    country          TEXT,
    plugin_version   TEXT,
    plugin_build     INTEGER,
    plugin_commit    TEXT,
    platform_name    TEXT,
    platform_version TEXT,
    plugins          TEXT    NOT NULL,
    first_seen       INTEGER NOT NULL,
    -- The last heartbeat while present.
    last_seen        INTEGER NOT NULL,
    started_at       INTEGER NOT NULL,
    -- Neither unregistered nor found silent.
    present          BOOLEAN NOT NULL,
    game_state       TEXT,
    players_to_start INTEGER NOT NULL,
    worlds           TEXT    NOT NULL,
    PRIMARY KEY (network_id, server_id)
) WITHOUT ROWID;

CREATE INDEX servers_by_type ON servers (network_id, server_type, server_id);
CREATE INDEX servers_present ON servers (network_id, last_seen) WHERE present;

CREATE TABLE server_players (
    network_id        BLOB    NOT NULL,
    player_id         BLOB    NOT NULL,
    server_id         TEXT    NOT NULL,
    player_name       TEXT,
    world_id          TEXT,
    previous_world_id TEXT,
    joined_at         INTEGER NOT NULL,
    PRIMARY KEY (network_id, player_id)
) WITHOUT ROWID;
