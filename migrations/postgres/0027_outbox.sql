-- Events of committed changes that are not published yet.
CREATE TABLE outbox (
    network_id UUID   NOT NULL,
    -- Rises with each event. Of two changes of one row, the later one's event has the higher number.
    id         BIGINT GENERATED ALWAYS AS IDENTITY,
    name       TEXT   NOT NULL,
    -- The only server whose stream gets it; null: all of the network's.
    target     TEXT,
    data       TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (network_id, id)
);
