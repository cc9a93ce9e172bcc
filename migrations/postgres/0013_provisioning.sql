-- What provisioned machines of a server type fetch at boot. The bytes are files in the data folder, named by file_id.
CREATE TABLE provisioning_bundles (
    network_id  UUID             NOT NULL,
    server_type TEXT COLLATE "C" NOT NULL,
    file_id     TEXT             NOT NULL,
    sha256      TEXT             NOT NULL,
    size_bytes  BIGINT           NOT NULL,
    updated_at  BIGINT           NOT NULL,
    PRIMARY KEY (network_id, server_type)
);

-- Servers whose machine is, or was, made by a provisioner.
CREATE TABLE provisioned_servers (
    network_id     UUID             NOT NULL,
    server_id      TEXT COLLATE "C" NOT NULL,
    server_type    TEXT,
    display_name   TEXT,
    -- Id and display name in lower case, for searching.
    search_text    TEXT             NOT NULL,
    provider       TEXT,
    -- PROVISIONING or AWAITING_AUTH; that it registered is seen from servers.
    phase          TEXT             NOT NULL,
    desired_state  TEXT             NOT NULL,
    region         TEXT,
    server_vm_type TEXT,
    ipv4           TEXT,
    verify_url     TEXT,
    user_code      TEXT,
    created_at     BIGINT           NOT NULL,
    updated_at     BIGINT           NOT NULL,
    PRIMARY KEY (network_id, server_id)
);
