-- The console lines that agents ship: the newest of each server.
CREATE TABLE server_log_lines (
    network_id BLOB    NOT NULL,
    server_id  TEXT    NOT NULL,
    -- Counts from 1 per server, without gaps.
    seq        INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    -- stdout or stderr.
    stream     TEXT    NOT NULL,
    text       TEXT    NOT NULL,
    PRIMARY KEY (network_id, server_id, seq)
) WITHOUT ROWID;

-- The last number given out in each server's log.
CREATE TABLE server_logs (
    network_id BLOB    NOT NULL,
    server_id  TEXT    NOT NULL,
    last_seq   INTEGER NOT NULL,
    PRIMARY KEY (network_id, server_id)
) WITHOUT ROWID;
