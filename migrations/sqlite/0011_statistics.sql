CREATE TABLE statistics (
    network_id   BLOB    NOT NULL,
    owner_type   TEXT    NOT NULL,
    owner_key    TEXT    NOT NULL,
    game_mode    TEXT    NOT NULL,
    -- DAILY, WEEKLY, MONTHLY or LIFETIME.
    period       TEXT    NOT NULL,
    -- Its first day, as YYYY-MM-DD.
    period_start TEXT    NOT NULL,
    name         TEXT    NOT NULL,
    -- The check stops a sum that would leave the numbers: no single amount is larger than this.
    value        REAL    NOT NULL CHECK (value BETWEEN -1e300 AND 1e300),
    updated_at   INTEGER NOT NULL,
    -- The moment it came to its present value: who was first is before others with the same.
    reached      INTEGER NOT NULL,
    PRIMARY KEY (network_id, owner_type, owner_key, game_mode, period, period_start, name)
) WITHOUT ROWID;
CREATE INDEX statistics_by_rank
    ON statistics (network_id, owner_type, game_mode, name, period, period_start, value DESC, reached, owner_key);
