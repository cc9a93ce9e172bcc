CREATE TABLE statistics (
    network_id   UUID             NOT NULL,
    owner_type   TEXT COLLATE "C" NOT NULL,
    owner_key    TEXT COLLATE "C" NOT NULL,
    game_mode    TEXT COLLATE "C" NOT NULL,
    -- DAILY, WEEKLY, MONTHLY or LIFETIME.
    period       TEXT COLLATE "C" NOT NULL,
    -- Its first day, as YYYY-MM-DD.
    period_start TEXT COLLATE "C" NOT NULL,
    name         TEXT COLLATE "C" NOT NULL,
    -- The check stops a sum that would leave the numbers: no single amount is larger than this.
    value        DOUBLE PRECISION NOT NULL CHECK (value BETWEEN -1e300 AND 1e300),
    updated_at   BIGINT           NOT NULL,
    -- The moment it came to its present value: who was first is before others with the same.
    reached      BIGINT           NOT NULL,
    PRIMARY KEY (network_id, owner_type, owner_key, game_mode, period, period_start, name)
);
CREATE INDEX statistics_by_rank
    ON statistics (network_id, owner_type, game_mode, name, period, period_start, value DESC, reached, owner_key);
