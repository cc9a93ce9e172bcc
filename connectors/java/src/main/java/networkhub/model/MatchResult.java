package networkhub.model;

/**
 * What matchmaking found. Not finding one is an answer, too, and no error.
 *
 * @param success whether there is a match
 * @param result {@code SUCCESS}, or the reason there is none, such as {@code ALL_SERVERS_FULL}
 * @param errorMessage the reason as a sentence, or null
 * @param matchedServer where to send the player; null without a match
 * @param matchedWorld the world on it, if one was asked for
 * @param transferId the reservation, good for 15 seconds; null without a match
 * @param warm whether the owner's world was already up there
 */
public record MatchResult(
        boolean success, String result, String errorMessage, LiveServer matchedServer, World matchedWorld,
        String transferId, boolean warm) {}
