package networkhub.model;

/** The kinds of punishments. */
public enum PunishmentType {
    /** Keeps the player out. */
    BAN,
    /** Keeps the player from chatting. */
    MUTE,
    /** Recorded, and active. */
    WARN,
    /** Recorded, and never active. */
    KICK
}
