-- Why a node should own shards or not; null at nodes of versions before, which report both in `has_bus`.
ALTER TABLE hub_nodes ADD COLUMN reaches_bus BOOLEAN;
ALTER TABLE hub_nodes ADD COLUMN is_clock_right BOOLEAN;
