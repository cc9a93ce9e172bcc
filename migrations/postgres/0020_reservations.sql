-- Slots kept for players on their way. Written where several nodes are one hub, so that a slot outlives its network's
-- home; a hub that is alone keeps them in memory. Times are the database's.
CREATE TABLE slot_reservations (
    network_id     UUID    NOT NULL,
    reservation_id UUID    NOT NULL,
    server_id      TEXT    NOT NULL,
    player_id      UUID,
    world_id       TEXT,
    -- The id was given out, and no transfer has used it yet.
    promised       BOOLEAN NOT NULL,
    expires_at     BIGINT  NOT NULL,
    PRIMARY KEY (network_id, reservation_id)
);
