-- Backups that are being made: while there is one, no blob is deleted. A row whose beat stands still is of one that was killed.
CREATE TABLE backup_holds (
    hold_id TEXT    NOT NULL PRIMARY KEY,
    beat    INTEGER NOT NULL
) WITHOUT ROWID;

-- Backups that were, or are being, restored into this database. It is not served before they are complete.
CREATE TABLE restores (
    backup_id   TEXT    NOT NULL PRIMARY KEY,
    -- How many parts of the file are here.
    members     INTEGER NOT NULL,
    -- Null until all was compared with what the file says.
    finished_at INTEGER
) WITHOUT ROWID;
