CREATE TABLE config_documents (
    network_id BLOB NOT NULL,
    doc_group  TEXT NOT NULL,
    namespace  TEXT NOT NULL,
    -- JSON, as it was sent but for whitespace. Rows are large: not WITHOUT ROWID.
    doc        TEXT NOT NULL,
    PRIMARY KEY (network_id, doc_group, namespace)
);
