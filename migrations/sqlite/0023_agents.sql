-- What an agent is to do when it comes, whoever is its network's home by then.
CREATE TABLE agent_commands (
    network_id BLOB    NOT NULL,
    server_id  TEXT    NOT NULL,
    command_id TEXT    NOT NULL,
    -- As the agent gets it.
    command    TEXT    NOT NULL,
    -- From then on it is dropped.
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (network_id, server_id, command_id)
) WITHOUT ROWID;

-- The agents that were there when their network's home stopped or gave it to another node.
CREATE TABLE server_agents (
    network_id BLOB    NOT NULL,
    server_id  TEXT    NOT NULL,
    -- What its last poll said, as JSON.
    report     TEXT    NOT NULL,
    seen_at    INTEGER NOT NULL,
    PRIMARY KEY (network_id, server_id)
) WITHOUT ROWID;
