-- indexes: a JSON list of fields and types, the newest last.
CREATE TABLE collections (
    network_id UUID             NOT NULL,
    name       TEXT COLLATE "C" NOT NULL,
    key_field  TEXT,
    indexes    TEXT             NOT NULL,
    PRIMARY KEY (network_id, name)
);

-- doc: JSON, as it was sent but for whitespace.
CREATE TABLE collection_documents (
    network_id UUID             NOT NULL,
    collection TEXT COLLATE "C" NOT NULL,
    id         TEXT COLLATE "C" NOT NULL,
    doc        TEXT             NOT NULL,
    PRIMARY KEY (network_id, collection, id)
);

-- value: bytes that compare as the field's values do.
CREATE TABLE collection_entries (
    network_id UUID             NOT NULL,
    collection TEXT COLLATE "C" NOT NULL,
    id         TEXT COLLATE "C" NOT NULL,
    field      TEXT COLLATE "C" NOT NULL,
    value      BYTEA            NOT NULL,
    PRIMARY KEY (network_id, collection, id, field)
);

CREATE INDEX collection_entries_by_value ON collection_entries (network_id, collection, field, value, id);
