-- One row per world that was ever opened. world_no is the id of its first lease.
CREATE TABLE worlds (
    network_id  UUID   NOT NULL,
    world_no    BIGINT NOT NULL,
    game_id     TEXT   NOT NULL,
    owner_scope TEXT   NOT NULL,
    owner_id    TEXT   NOT NULL,
    world_key   TEXT   NOT NULL,
    -- That of its newest lease.
    fence       BIGINT NOT NULL,
    -- Its newest snapshot: by which lease, and which one of that.
    blob_key    TEXT,
    blob_fence  BIGINT NOT NULL,
    blob_seq    BIGINT NOT NULL,
    PRIMARY KEY (network_id, world_no)
);

CREATE UNIQUE INDEX worlds_by_name ON worlds (network_id, game_id, owner_scope, owner_id, world_key);

-- The last lease id given out in each network.
CREATE TABLE world_counters (
    network_id UUID   NOT NULL PRIMARY KEY,
    last_id    BIGINT NOT NULL
);

CREATE TABLE world_leases (
    network_id     UUID   NOT NULL,
    id             BIGINT NOT NULL,
    world_no       BIGINT NOT NULL,
    fence          BIGINT NOT NULL,
    -- LOADING, READY, DRAINING, UNLOADED or LOST.
    state          TEXT   NOT NULL,
    -- Null while it waits for the lease before it to end.
    node_server_id TEXT,
    prefer_node    TEXT,
    persistence    TEXT   NOT NULL,
    world_gen      TEXT,
    seed           TEXT,
    -- How who opened it reaches the hub.
    hub_url        TEXT   NOT NULL,
    players        BIGINT NOT NULL,
    -- Since when nobody is in it; null while somebody is, or it is not up.
    idle_since     BIGINT,
    -- Snapshot uploads begun under it.
    uploads        BIGINT NOT NULL,
    -- The snapshot it was unloaded with.
    blob_key       TEXT,
    opened_at      BIGINT NOT NULL,
    expires_at     BIGINT NOT NULL,
    ended_at       BIGINT,
    PRIMARY KEY (network_id, id)
);

-- A world is booting or up at most once.
CREATE UNIQUE INDEX world_leases_live ON world_leases (network_id, world_no) WHERE state IN ('LOADING', 'READY');
CREATE INDEX world_leases_of_world ON world_leases (network_id, world_no, state);
CREATE INDEX world_leases_of_node ON world_leases (network_id, node_server_id, state);
CREATE INDEX world_leases_per_node ON world_leases (network_id, node_server_id, expires_at)
    WHERE state IN ('LOADING', 'READY', 'DRAINING');

-- What is due is noted for all networks together.
CREATE INDEX world_leases_due ON world_leases (expires_at) WHERE state IN ('LOADING', 'READY', 'DRAINING');
CREATE INDEX world_leases_idle ON world_leases (idle_since) WHERE state = 'READY';
CREATE INDEX world_leases_waiting ON world_leases (opened_at) WHERE state = 'LOADING' AND node_server_id IS NULL;
CREATE INDEX world_leases_ended ON world_leases (ended_at) WHERE ended_at IS NOT NULL;

-- Snapshots, and uploads that may yet become one.
CREATE TABLE world_blobs (
    network_id UUID   NOT NULL,
    blob_key   TEXT   NOT NULL,
    world_no   BIGINT NOT NULL,
    lease_id   BIGINT NOT NULL,
    fence      BIGINT NOT NULL,
    seq        BIGINT NOT NULL,
    -- Null until it is known to be there.
    size_bytes BIGINT,
    -- Where on the hub's own disk; null in another store.
    file       TEXT,
    minted_at  BIGINT NOT NULL,
    PRIMARY KEY (network_id, blob_key)
);

CREATE INDEX world_blobs_of_world ON world_blobs (network_id, world_no, fence, seq);
