-- The console lines that agents ship: the newest of each server.
CREATE TABLE server_log_lines (
    network_id UUID   NOT NULL,
    server_id  TEXT   NOT NULL,
    -- Counts from 1 per server, without gaps.
    seq        BIGINT NOT NULL,
    at         BIGINT NOT NULL,
    -- stdout or stderr.
    stream     TEXT   NOT NULL,
    text       TEXT   NOT NULL,
    PRIMARY KEY (network_id, server_id, seq)
);

-- The last number given out in each server's log.
CREATE TABLE server_logs (
    network_id UUID   NOT NULL,
    server_id  TEXT   NOT NULL,
    last_seq   BIGINT NOT NULL,
    PRIMARY KEY (network_id, server_id)
);
