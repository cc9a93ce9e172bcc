-- One row per transfer that was ordered, whatever became of it. They are deleted after a day. Not WITHOUT ROWID: SQLite
-- would rather read all rows of a network than look into an index.
CREATE TABLE transfers (
    network_id    BLOB    NOT NULL,
    id            BLOB    NOT NULL,
    player_uuid   BLOB    NOT NULL,
    -- Where the player was; null where they were not online.
    from_server   TEXT,
    to_server     TEXT    NOT NULL,
    to_world      TEXT,
    -- Null while it is under way.
    result        TEXT,
    error_message TEXT,
    created_at    INTEGER NOT NULL,
    expires_at    INTEGER NOT NULL,
    ended_at      INTEGER,
    PRIMARY KEY (network_id, id)
);

CREATE INDEX transfers_of_player ON transfers (network_id, player_uuid, ended_at);

-- Time-outs are noted, and what is old deleted, for all networks together.
CREATE INDEX transfers_due ON transfers (expires_at) WHERE ended_at IS NULL;
CREATE INDEX transfers_by_age ON transfers (created_at);
