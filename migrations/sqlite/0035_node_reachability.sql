-- The names of the nodes that a node reaches, as a JSON array; null at nodes of a version that does not report them.
ALTER TABLE hub_nodes ADD COLUMN reached TEXT;
