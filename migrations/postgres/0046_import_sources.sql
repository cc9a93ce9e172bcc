-- Where punishments and balances come from that were imported, so that they are not imported twice.
CREATE TABLE import_sources (
    network_id UUID    NOT NULL,
    -- The table of the other tool, or the currency.
    source     TEXT    NOT NULL,
    source_key TEXT    NOT NULL,
    -- The id of the punishment, or what the balance was, in ten-thousandths.
    value      BIGINT NOT NULL,
    PRIMARY KEY (network_id, source, source_key)
);
