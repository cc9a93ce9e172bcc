// Generated from the hub's OpenAPI document by connectors/generate.
package networkhub.model;

/** How a match went. */
public enum MatchResult {
    SUCCESS,
    NO_SERVERS_AVAILABLE,
    ALL_SERVERS_FULL,
    NO_WORLDS_AVAILABLE,
    ALL_WORLDS_FULL,
    SERVER_NOT_FOUND,
    SERVER_OFFLINE,
    SERVER_FULL,
    SERVER_NOT_JOINABLE,
    WORLD_NOT_FOUND,
    WORLD_FULL,
    WORLD_NOT_JOINABLE,
    ALREADY_ON_SERVER,
    POLICY_REJECTED,
    /** A value that is newer than this library. */
    UNKNOWN
}
