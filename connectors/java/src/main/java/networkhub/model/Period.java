package networkhub.model;

/** What a statistic is counted over, in UTC. */
public enum Period {
    /** A day. */
    DAILY,
    /** A week from Monday. */
    WEEKLY,
    /** A calendar month. */
    MONTHLY,
    /** All time. */
    LIFETIME
}
