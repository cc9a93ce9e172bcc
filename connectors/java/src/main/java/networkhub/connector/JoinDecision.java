package networkhub.connector;

import networkhub.model.LoadedPlayer;
import networkhub.model.Punishment;

/**
 * Decision whether a player may join.
 *
 * @param allowed whether they may
 * @param reason why not; null where they may
 * @param ban the ban that keeps them out; null where it is something else
 * @param profile the player as the hub has loaded them; null where the hub was away or they may not join
 */
public record JoinDecision(boolean allowed, Reason reason, Punishment ban, LoadedPlayer profile) {
    /** Reason to refuse a join. */
    public enum Reason {
        /** A ban, of which the hub or the cache knows. */
        BANNED,
        /** The hub is away, and nothing current is known of the player. */
        NOT_VERIFIED
    }

    static JoinDecision allow(LoadedPlayer profile) {
        return new JoinDecision(true, null, null, profile);
    }

    static JoinDecision banned(Punishment ban) {
        return new JoinDecision(false, Reason.BANNED, ban, null);
    }

    static JoinDecision notVerified() {
        return new JoinDecision(false, Reason.NOT_VERIFIED, null, null);
    }
}
