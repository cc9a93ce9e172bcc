-- Everybody who was ever seen. The rows have numbers of their own because the search index names rows by number.
CREATE TABLE players (
    number          INTEGER PRIMARY KEY,
    network_id      BLOB    NOT NULL,
    player_uuid     BLOB    NOT NULL,
    -- Null until a name was said.
    username        TEXT,
    -- In lower case: names compare without case.
    username_folded TEXT,
    game_type       TEXT,
    region          TEXT    NOT NULL,
    country         TEXT,
    first_seen      INTEGER NOT NULL,
    last_seen       INTEGER NOT NULL,
    UNIQUE (network_id, player_uuid)
);
CREATE INDEX players_by_last_seen ON players (network_id, last_seen DESC, player_uuid);
CREATE INDEX players_by_region ON players (network_id, region, last_seen DESC, player_uuid);
CREATE INDEX players_by_username ON players (network_id, username_folded);

-- Finds names by any three characters in a row. It holds no text of its own: triggers keep it like its table.
CREATE VIRTUAL TABLE player_search USING fts5 (
    username_folded, content = 'players', content_rowid = 'number', tokenize = 'trigram case_sensitive 1'
);
CREATE TRIGGER players_inserted AFTER INSERT ON players WHEN new.username_folded IS NOT NULL BEGIN
    INSERT INTO player_search (rowid, username_folded) VALUES (new.number, new.username_folded);
END;
CREATE TRIGGER players_deleted AFTER DELETE ON players WHEN old.username_folded IS NOT NULL BEGIN
    INSERT INTO player_search (player_search, rowid, username_folded)
    VALUES ('delete', old.number, old.username_folded);
END;
-- In one trigger, because the order of several is SQLite's own: the old name has to go before the new one comes.
CREATE TRIGGER players_renamed AFTER UPDATE OF username_folded ON players
WHEN old.username_folded IS NOT new.username_folded BEGIN
    INSERT INTO player_search (player_search, rowid, username_folded)
    SELECT 'delete', old.number, old.username_folded WHERE old.username_folded IS NOT NULL;
    INSERT INTO player_search (rowid, username_folded)
    SELECT new.number, new.username_folded WHERE new.username_folded IS NOT NULL;
END;

-- One JSON text per namespace. Rows are large: not WITHOUT ROWID.
CREATE TABLE player_data (
    network_id  BLOB    NOT NULL,
    player_uuid BLOB    NOT NULL,
    game_mode   TEXT    NOT NULL,
    namespace   TEXT    NOT NULL,
    data        TEXT    NOT NULL,
    version     INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    PRIMARY KEY (network_id, player_uuid, game_mode, namespace)
);
