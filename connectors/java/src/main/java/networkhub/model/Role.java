package networkhub.model;

/** What a server is. */
public enum Role {
    /** A game server. */
    GAME,
    /** A proxy. */
    PROXY
}
