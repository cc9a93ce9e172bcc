-- Bytes of modules that are too many for one row: writing them all at once would keep every other writer waiting. What is
-- here has an empty value in module_code. Rows are large: not WITHOUT ROWID.
CREATE TABLE module_pieces (
    network_id BLOB    NOT NULL,
    name       TEXT    NOT NULL,
    version    INTEGER NOT NULL,
    -- UPLOAD or COMPONENT, as the columns of module_code.
    part       TEXT    NOT NULL,
    -- Counted from 0.
    piece      INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    bytes      BLOB    NOT NULL,
    PRIMARY KEY (network_id, name, version, part, piece)
);
