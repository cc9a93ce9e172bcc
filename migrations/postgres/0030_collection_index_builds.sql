-- Indexes of a collection that are not complete yet. fields: a JSON list; after_id: the documents up to this one are in
-- them.
CREATE TABLE collection_index_builds (
    network_id UUID             NOT NULL,
    collection TEXT COLLATE "C" NOT NULL,
    fields     TEXT             NOT NULL,
    after_id   TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (network_id, collection)
);
