-- Players whose data was, or is being, deleted for good: so that it is done again after a restore.
CREATE TABLE forgotten_players (
    network_id    BLOB    NOT NULL,
    player_uuid   BLOB    NOT NULL,
    -- When it was last asked for.
    forgotten_at  INTEGER NOT NULL,
    -- What stands for the player in rows that are kept, such as the ledger's; null once all is done.
    replacement   BLOB,
    finished_at   INTEGER,
    -- Until then one node is at it.
    claimed_until INTEGER NOT NULL,
    PRIMARY KEY (network_id, player_uuid)
) WITHOUT ROWID;
CREATE INDEX forgotten_players_of_network ON forgotten_players (network_id, forgotten_at DESC, player_uuid);

-- What is not done, and what other nodes have to drop from their memory, is looked for in all networks together.
CREATE INDEX forgotten_players_due ON forgotten_players (claimed_until) WHERE finished_at IS NULL;
CREATE INDEX forgotten_players_by_time ON forgotten_players (forgotten_at, network_id, player_uuid);
