-- A group is replaced as a whole and read as a whole: its nodes are a JSON list in its row.
CREATE TABLE permission_groups (
    network_id        UUID             NOT NULL,
    group_id          TEXT COLLATE "C" NOT NULL,
    display_name      TEXT,
    priority          BIGINT           NOT NULL,
    chat_prefix       TEXT,
    chat_prefix_color TEXT,
    chat_name_color   TEXT,
    nodes             TEXT             NOT NULL,
    PRIMARY KEY (network_id, group_id)
);

-- context, world: empty is everywhere.
CREATE TABLE permission_nodes (
    network_id  UUID             NOT NULL,
    player_uuid UUID             NOT NULL,
    node        TEXT COLLATE "C" NOT NULL,
    context     TEXT COLLATE "C" NOT NULL,
    world       TEXT COLLATE "C" NOT NULL,
    value       BOOLEAN          NOT NULL,
    expires_at  BIGINT,
    PRIMARY KEY (network_id, player_uuid, node, context, world)
);
