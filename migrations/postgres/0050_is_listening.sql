-- Whether some stream of a network asks for an event at a time. Volatile, so that within a statement it sees what was committed
-- since the statement began.
CREATE FUNCTION is_listening(of_network UUID, event_name TEXT, at_time BIGINT) RETURNS BOOLEAN LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN EXISTS (SELECT until FROM event_listeners
                   WHERE network_id = of_network AND name = event_name AND until > at_time);
END
$$;
