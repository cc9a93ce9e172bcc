-- Files of other tools that are imported, or were.
CREATE TABLE imports (
    network_id  BLOB    NOT NULL,
    import_id   TEXT    NOT NULL,
    -- LUCKPERMS, LITEBANS or BALANCES.
    kind        TEXT    NOT NULL,
    dry_run     BOOLEAN NOT NULL,
    -- JSON: how the file is read.
    options     TEXT    NOT NULL,
    sha256      TEXT    NOT NULL,
    file_size   INTEGER NOT NULL,
    -- Of the file in the blob store; 0 once it is gone.
    size_bytes  INTEGER NOT NULL,
    -- QUEUED, RUNNING, DONE, FAILED or CANCELLED.
    state       TEXT    NOT NULL,
    -- How many records are done, and how many there are; null until that is known.
    done        INTEGER NOT NULL,
    total       INTEGER,
    -- JSON: what became of the records, by category, and what an owner should know.
    counts      TEXT    NOT NULL,
    notes       TEXT    NOT NULL,
    more_notes  INTEGER NOT NULL,
    error       TEXT,
    error_line  INTEGER,
    key_id      TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    started_at  INTEGER,
    finished_at INTEGER,
    PRIMARY KEY (network_id, import_id)
);
-- One at a time in each network.
CREATE UNIQUE INDEX imports_running ON imports (network_id) WHERE state IN ('QUEUED', 'RUNNING');
-- The unfinished imports of all networks are looked for together.
CREATE INDEX imports_unfinished ON imports (created_at, import_id) WHERE state IN ('QUEUED', 'RUNNING');
CREATE INDEX imports_by_time ON imports (network_id, created_at DESC, import_id DESC);

CREATE TRIGGER count_imports_added AFTER INSERT ON imports BEGIN
    INSERT INTO network_usage (network_id, slot, documents, storage_bytes, file_bytes)
    VALUES (NEW.network_id, 0, 0, 0, NEW.size_bytes)
    ON CONFLICT (network_id, slot) DO UPDATE SET file_bytes = file_bytes + excluded.file_bytes;
END;
CREATE TRIGGER count_imports_changed AFTER UPDATE OF size_bytes ON imports BEGIN
    INSERT INTO network_usage (network_id, slot, documents, storage_bytes, file_bytes)
    VALUES (NEW.network_id, 0, 0, 0, NEW.size_bytes - OLD.size_bytes)
    ON CONFLICT (network_id, slot) DO UPDATE SET file_bytes = file_bytes + excluded.file_bytes;
END;
CREATE TRIGGER count_imports_deleted AFTER DELETE ON imports WHEN OLD.size_bytes <> 0 BEGIN
    INSERT INTO network_usage (network_id, slot, documents, storage_bytes, file_bytes)
    VALUES (OLD.network_id, 0, 0, 0, -OLD.size_bytes)
    ON CONFLICT (network_id, slot) DO UPDATE SET file_bytes = file_bytes + excluded.file_bytes;
END;
