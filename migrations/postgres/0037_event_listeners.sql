-- Which events some stream of a network asks for that are not sent to all: nobody else's are published.
CREATE TABLE event_listeners (
    network_id UUID             NOT NULL,
    name       TEXT COLLATE "C" NOT NULL,
    -- A stream that ended before may still be resumed.
    until      BIGINT           NOT NULL,
    PRIMARY KEY (network_id, name)
);
