-- A group is replaced as a whole and read as a whole: its nodes are a JSON list in its row.
CREATE TABLE permission_groups (
    network_id        BLOB    NOT NULL,
    group_id          TEXT    NOT NULL,
    display_name      TEXT,
    priority          INTEGER NOT NULL,
    chat_prefix       TEXT,
    chat_prefix_color TEXT,
    chat_name_color   TEXT,
    nodes             TEXT    NOT NULL,
    PRIMARY KEY (network_id, group_id)
);

-- context, world: empty is everywhere.
CREATE TABLE permission_nodes (
    network_id  BLOB    NOT NULL,
    player_uuid BLOB    NOT NULL,
    node        TEXT    NOT NULL,
    context     TEXT    NOT NULL,
    world       TEXT    NOT NULL,
    value       BOOLEAN NOT NULL,
    expires_at  INTEGER,
    PRIMARY KEY (network_id, player_uuid, node, context, world)
) WITHOUT ROWID;
