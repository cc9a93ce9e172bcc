-- What networks used, by hour. It outlives its network, so that the last hours of one that was deleted can be billed.
CREATE TABLE usage_hours (
    network_id         UUID   NOT NULL,
    -- When the hour begins.
    hour               BIGINT NOT NULL,
    requests           BIGINT NOT NULL DEFAULT 0,
    events             BIGINT NOT NULL DEFAULT 0,
    module_calls       BIGINT NOT NULL DEFAULT 0,
    module_micros      BIGINT NOT NULL DEFAULT 0,
    fuel               BIGINT NOT NULL DEFAULT 0,
    documents          BIGINT NOT NULL DEFAULT 0,
    storage_bytes      BIGINT NOT NULL DEFAULT 0,
    module_store_bytes BIGINT NOT NULL DEFAULT 0,
    file_bytes         BIGINT NOT NULL DEFAULT 0,
    peak_players       BIGINT NOT NULL DEFAULT 0,
    peak_servers       BIGINT NOT NULL DEFAULT 0,
    peak_streams       BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (network_id, hour)
    -- A row is updated each second, in place.
) WITH (fillfactor = 50);

CREATE INDEX usage_hours_by_hour ON usage_hours (hour, network_id);

-- Processes that add to the hours, with the number of the last batch that each has added.
CREATE TABLE usage_nodes (
    node     TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    sequence BIGINT NOT NULL,
    seen_at  BIGINT NOT NULL
);

-- Streams that each process has open.
CREATE TABLE usage_streams (
    network_id UUID   NOT NULL,
    node       TEXT COLLATE "C" NOT NULL,
    streams    BIGINT NOT NULL,
    seen_at    BIGINT NOT NULL,
    PRIMARY KEY (network_id, node)
);

-- How far the work on the hours has come, and which process is at it.
CREATE TABLE usage_progress (
    -- 'close': hours before `hour` do not change any more. 'report': those up to `hour` and `last_network` are reported.
    work          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    hour          BIGINT NOT NULL,
    last_network  UUID   NOT NULL,
    claimed_by    TEXT   NOT NULL,
    claimed_until BIGINT NOT NULL,
    -- Names this hub in its reports, from the first one on.
    source        TEXT
);

INSERT INTO usage_progress (work, hour, last_network, claimed_by, claimed_until)
VALUES ('close', 0, '00000000-0000-0000-0000-000000000000', '', 0), ('report', 0, '00000000-0000-0000-0000-000000000000', '', 0);
