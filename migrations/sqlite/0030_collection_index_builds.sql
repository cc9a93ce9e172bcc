-- Indexes of a collection that are not complete yet. fields: a JSON list; after_id: the documents up to this one are in
-- them.
CREATE TABLE collection_index_builds (
    network_id BLOB NOT NULL,
    collection TEXT NOT NULL,
    fields     TEXT NOT NULL,
    after_id   TEXT NOT NULL,
    PRIMARY KEY (network_id, collection)
) WITHOUT ROWID;
