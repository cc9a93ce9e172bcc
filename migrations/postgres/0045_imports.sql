-- Files of other tools that are imported, or were.
CREATE TABLE imports (
    network_id  UUID    NOT NULL,
    import_id   TEXT    NOT NULL,
    -- LUCKPERMS, LITEBANS or BALANCES.
    kind        TEXT    NOT NULL,
    dry_run     BOOLEAN NOT NULL,
    -- JSON: how the file is read.
    options     TEXT    NOT NULL,
    sha256      TEXT    NOT NULL,
    file_size   BIGINT NOT NULL,
    -- Of the file in the blob store; 0 once it is gone.
    size_bytes  BIGINT NOT NULL,
    -- QUEUED, RUNNING, DONE, FAILED or CANCELLED.
    state       TEXT    NOT NULL,
    -- How many records are done, and how many there are; null until that is known.
    done        BIGINT NOT NULL,
    total       BIGINT,
    -- JSON: what became of the records, by category, and what an owner should know.
    counts      TEXT    NOT NULL,
    notes       TEXT    NOT NULL,
    more_notes  BIGINT NOT NULL,
    error       TEXT,
    error_line  BIGINT,
    key_id      TEXT    NOT NULL,
    created_at  BIGINT NOT NULL,
    started_at  BIGINT,
    finished_at BIGINT,
    PRIMARY KEY (network_id, import_id)
);
-- One at a time in each network.
CREATE UNIQUE INDEX imports_running ON imports (network_id) WHERE state IN ('QUEUED', 'RUNNING');
-- The unfinished imports of all networks are looked for together.
CREATE INDEX imports_unfinished ON imports (created_at, import_id) WHERE state IN ('QUEUED', 'RUNNING');
CREATE INDEX imports_by_time ON imports (network_id, created_at DESC, import_id DESC);

CREATE TRIGGER count_imports AFTER INSERT OR DELETE OR UPDATE OF size_bytes ON imports FOR EACH ROW EXECUTE FUNCTION count_files();
