-- Who cannot publish is nobody's home.
ALTER TABLE hub_nodes ADD COLUMN has_bus BOOLEAN NOT NULL DEFAULT TRUE;
