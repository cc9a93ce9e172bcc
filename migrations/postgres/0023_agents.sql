-- What an agent is to do when it comes, whoever is its network's home by then.
CREATE TABLE agent_commands (
    network_id UUID   NOT NULL,
    server_id  TEXT   NOT NULL,
    command_id TEXT   NOT NULL,
    -- As the agent gets it.
    command    TEXT   NOT NULL,
    -- From then on it is dropped.
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (network_id, server_id, command_id)
);

-- The agents that were there when their network's home stopped or gave it to another node.
CREATE TABLE server_agents (
    network_id UUID   NOT NULL,
    server_id  TEXT   NOT NULL,
    -- What its last poll said, as JSON.
    report     TEXT   NOT NULL,
    seen_at    BIGINT NOT NULL,
    PRIMARY KEY (network_id, server_id)
);
