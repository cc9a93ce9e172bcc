-- All amounts are ten-thousandths of the currency's unit.
CREATE TABLE currencies (
    network_id       BLOB    NOT NULL,
    name             TEXT    NOT NULL,
    -- Null: none.
    minimum          INTEGER,
    maximum          INTEGER,
    starting_balance INTEGER,
    -- What a new balance begins at: the starting balance, or what is nearest to 0 inside the bounds.
    begins_at        INTEGER NOT NULL,
    PRIMARY KEY (network_id, name)
) WITHOUT ROWID;
CREATE INDEX currencies_given ON currencies (network_id, name, begins_at) WHERE begins_at <> 0;

CREATE TABLE balances (
    network_id BLOB    NOT NULL,
    owner_type TEXT    NOT NULL,
    owner_key  TEXT    NOT NULL,
    currency   TEXT    NOT NULL,
    balance    INTEGER NOT NULL,
    -- What it was before the last change.
    previous   INTEGER NOT NULL,
    -- The moment it came to its present value: who was first is before others with the same.
    reached    INTEGER NOT NULL,
    -- The last entry of its ledger.
    last_entry INTEGER NOT NULL,
    PRIMARY KEY (network_id, owner_type, owner_key, currency)
) WITHOUT ROWID;
CREATE INDEX balances_by_rank ON balances (network_id, currency, owner_type, balance DESC, reached, owner_key);

CREATE TABLE currency_ledger (
    network_id     BLOB    NOT NULL,
    owner_type     TEXT    NOT NULL,
    owner_key      TEXT    NOT NULL,
    currency       TEXT    NOT NULL,
    -- Rises with every entry of a balance.
    id             INTEGER NOT NULL,
    asked          INTEGER NOT NULL,
    balance_before INTEGER NOT NULL,
    balance        INTEGER NOT NULL,
    reason         TEXT,
    key_id         TEXT    NOT NULL,
    at             INTEGER NOT NULL,
    PRIMARY KEY (network_id, owner_type, owner_key, currency, id)
) WITHOUT ROWID;
CREATE INDEX currency_ledger_by_owner ON currency_ledger (network_id, owner_type, owner_key, id DESC, currency);
