-- The hub's nodes, and which of them each shard of the networks lives at. Times are the database's.
CREATE TABLE hub_nodes (
    node    TEXT   NOT NULL,
    url     TEXT   NOT NULL,
    seen_at BIGINT NOT NULL,
    PRIMARY KEY (node)
);

CREATE TABLE network_homes (
    shard      INTEGER NOT NULL,
    node       TEXT    NOT NULL,
    fence      BIGINT  NOT NULL,
    expires_at BIGINT  NOT NULL,
    PRIMARY KEY (shard)
);
