-- indexes: a JSON list of fields and types, the newest last.
CREATE TABLE collections (
    network_id BLOB NOT NULL,
    name       TEXT NOT NULL,
    key_field  TEXT,
    indexes    TEXT NOT NULL,
    PRIMARY KEY (network_id, name)
) WITHOUT ROWID;

-- doc: JSON, as it was sent but for whitespace. Rows are large: not WITHOUT ROWID.
CREATE TABLE collection_documents (
    network_id BLOB NOT NULL,
    collection TEXT NOT NULL,
    id         TEXT NOT NULL,
    doc        TEXT NOT NULL,
    PRIMARY KEY (network_id, collection, id)
);

-- value: bytes that compare as the field's values do.
CREATE TABLE collection_entries (
    network_id BLOB NOT NULL,
    collection TEXT NOT NULL,
    id         TEXT NOT NULL,
    field      TEXT NOT NULL,
    value      BLOB NOT NULL,
    PRIMARY KEY (network_id, collection, id, field)
) WITHOUT ROWID;

CREATE INDEX collection_entries_by_value ON collection_entries (network_id, collection, field, value, id);
