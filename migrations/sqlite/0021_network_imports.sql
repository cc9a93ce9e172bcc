-- Networks that are being imported, and by whom: their rows are there, but the network is not yet.
CREATE TABLE network_imports (
    network_id BLOB NOT NULL PRIMARY KEY,
    token      TEXT NOT NULL
) WITHOUT ROWID;
