-- Bytes of modules that are too many for one row: sending them all at once would keep a connection and its thread busy. What
-- is here has an empty value in module_code.
CREATE TABLE module_pieces (
    network_id UUID   NOT NULL,
    name       TEXT   NOT NULL,
    version    BIGINT NOT NULL,
    -- UPLOAD or COMPONENT, as the columns of module_code.
    part       TEXT   NOT NULL,
    -- Counted from 0.
    piece      BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    bytes      BYTEA  NOT NULL,
    PRIMARY KEY (network_id, name, version, part, piece)
);
