-- Finds names by any three characters in a row, as `player_search` does, but by row numbers that begin with the network's
-- number, so that a search looks at the rows of its own network alone. `player_search` stays for the previous release.
CREATE TABLE player_search_networks (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    network_id BLOB    NOT NULL UNIQUE
);

-- A row's number: that of the network times 2^32, plus that of the player. It holds no text: triggers keep it.
CREATE VIRTUAL TABLE network_player_search USING fts5 (
    username_folded, content = '', tokenize = 'trigram case_sensitive 1'
);

CREATE TRIGGER players_search_inserted AFTER INSERT ON players WHEN new.username_folded IS NOT NULL BEGIN
    INSERT INTO player_search_networks (network_id) SELECT new.network_id
    WHERE NOT EXISTS (SELECT 1 FROM player_search_networks WHERE network_id = new.network_id);
    INSERT INTO network_player_search (rowid, username_folded)
    SELECT n.number * 4294967296 + new.number, new.username_folded
    FROM player_search_networks n WHERE n.network_id = new.network_id;
END;
CREATE TRIGGER players_search_deleted AFTER DELETE ON players WHEN old.username_folded IS NOT NULL BEGIN
    INSERT INTO network_player_search (network_player_search, rowid, username_folded)
    SELECT 'delete', n.number * 4294967296 + old.number, old.username_folded
    FROM player_search_networks n WHERE n.network_id = old.network_id;
END;
-- In one trigger, because the order of several is SQLite's own: the old name has to go before the new one comes.
CREATE TRIGGER players_search_renamed AFTER UPDATE OF username_folded ON players
WHEN old.username_folded IS NOT new.username_folded BEGIN
    INSERT INTO player_search_networks (network_id) SELECT new.network_id
    WHERE NOT EXISTS (SELECT 1 FROM player_search_networks WHERE network_id = new.network_id);
    INSERT INTO network_player_search (network_player_search, rowid, username_folded)
    SELECT 'delete', n.number * 4294967296 + old.number, old.username_folded
    FROM player_search_networks n WHERE n.network_id = old.network_id AND old.username_folded IS NOT NULL;
    INSERT INTO network_player_search (rowid, username_folded)
    SELECT n.number * 4294967296 + new.number, new.username_folded
    FROM player_search_networks n WHERE n.network_id = new.network_id AND new.username_folded IS NOT NULL;
END;

INSERT INTO player_search_networks (network_id) SELECT DISTINCT network_id FROM players;
INSERT INTO network_player_search (rowid, username_folded)
SELECT n.number * 4294967296 + p.number, p.username_folded
FROM players p JOIN player_search_networks n ON n.network_id = p.network_id WHERE p.username_folded IS NOT NULL;
