-- How often the permissions of a network have changed.
CREATE TABLE permission_revisions (
    network_id     BLOB    NOT NULL,
    last_revision  INTEGER NOT NULL,
    -- That of the last change of a group.
    group_revision INTEGER NOT NULL,
    PRIMARY KEY (network_id)
) WITHOUT ROWID;

-- The last change of a player's own nodes.
CREATE TABLE player_permission_revisions (
    network_id  BLOB    NOT NULL,
    player_uuid BLOB    NOT NULL,
    revision    INTEGER NOT NULL,
    PRIMARY KEY (network_id, player_uuid)
) WITHOUT ROWID;

-- The node that keeps the newest snapshot in a store of its own; null: the hub handed its key out.
ALTER TABLE worlds ADD COLUMN blob_node TEXT;
