-- All amounts are ten-thousandths of the currency's unit.
CREATE TABLE currencies (
    network_id       UUID             NOT NULL,
    name             TEXT COLLATE "C" NOT NULL,
    -- Null: none.
    minimum          BIGINT,
    maximum          BIGINT,
    starting_balance BIGINT,
    -- What a new balance begins at: the starting balance, or what is nearest to 0 inside the bounds.
    begins_at        BIGINT           NOT NULL,
    PRIMARY KEY (network_id, name)
);
CREATE INDEX currencies_given ON currencies (network_id, name, begins_at) WHERE begins_at <> 0;

CREATE TABLE balances (
    network_id UUID             NOT NULL,
    owner_type TEXT COLLATE "C" NOT NULL,
    owner_key  TEXT COLLATE "C" NOT NULL,
    currency   TEXT COLLATE "C" NOT NULL,
    balance    BIGINT           NOT NULL,
    -- What it was before the last change.
    previous   BIGINT           NOT NULL,
    -- The moment it came to its present value: who was first is before others with the same.
    reached    BIGINT           NOT NULL,
    -- The last entry of its ledger.
    last_entry BIGINT           NOT NULL,
    PRIMARY KEY (network_id, owner_type, owner_key, currency)
);
CREATE INDEX balances_by_rank ON balances (network_id, currency, owner_type, balance DESC, reached, owner_key);

CREATE TABLE currency_ledger (
    network_id     UUID             NOT NULL,
    owner_type     TEXT COLLATE "C" NOT NULL,
    owner_key      TEXT COLLATE "C" NOT NULL,
    currency       TEXT COLLATE "C" NOT NULL,
    -- Rises with every entry of a balance.
    id             BIGINT           NOT NULL,
    asked          BIGINT           NOT NULL,
    balance_before BIGINT           NOT NULL,
    balance        BIGINT           NOT NULL,
    reason         TEXT,
    key_id         TEXT             NOT NULL,
    at             BIGINT           NOT NULL,
    PRIMARY KEY (network_id, owner_type, owner_key, currency, id)
);
CREATE INDEX currency_ledger_by_owner ON currency_ledger (network_id, owner_type, owner_key, id DESC, currency);
