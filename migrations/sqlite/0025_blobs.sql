-- Blobs in the store that no row refers to: received and not recorded yet, or not needed any more. delete_at: when such a
-- blob is deleted; 0 from when that begins.
CREATE TABLE unreferenced_blobs (
    network_id BLOB    NOT NULL,
    blob_key   TEXT    NOT NULL,
    delete_at  INTEGER NOT NULL,
    PRIMARY KEY (network_id, blob_key)
) WITHOUT ROWID;

CREATE INDEX unreferenced_blobs_due ON unreferenced_blobs (delete_at);

-- Blobs that were moved into the store and are still in their old place, too: files of the data folder, module_pieces and
-- large values of module_code. kind: ARTIFACT, BUNDLE, SNAPSHOT, UPLOAD or COMPONENT.
CREATE TABLE blob_moves (
    network_id BLOB    NOT NULL,
    kind       TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    blob_key   TEXT    NOT NULL,
    moved_at   INTEGER NOT NULL,
    PRIMARY KEY (network_id, kind, name)
) WITHOUT ROWID;
