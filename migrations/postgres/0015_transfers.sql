-- One row per transfer that was ordered, whatever became of it. They are deleted after a day.
CREATE TABLE transfers (
    network_id    UUID   NOT NULL,
    id            UUID   NOT NULL,
    player_uuid   UUID   NOT NULL,
    -- Where the player was; null where they were not online.
    from_server   TEXT,
    to_server     TEXT   NOT NULL,
    to_world      TEXT,
    -- Null while it is under way.
    result        TEXT,
    error_message TEXT,
    created_at    BIGINT NOT NULL,
    expires_at    BIGINT NOT NULL,
    ended_at      BIGINT,
    PRIMARY KEY (network_id, id)
);

CREATE INDEX transfers_of_player ON transfers (network_id, player_uuid, ended_at);

-- Time-outs are noted, and what is old deleted, for all networks together.
CREATE INDEX transfers_due ON transfers (expires_at) WHERE ended_at IS NULL;
CREATE INDEX transfers_by_age ON transfers (created_at);
