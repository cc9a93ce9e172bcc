package networkhub.connector;

import java.util.UUID;

/**
 * A player's place in a waiting line.
 *
 * @param playerUuid who waits
 * @param ticketId the ticket, by which the line is left
 * @param position place among those who wait, from 1
 * @param waiting number of those who wait
 * @param etaMs estimated time until the match in milliseconds; null if unknown
 */
public record Place(UUID playerUuid, UUID ticketId, long position, long waiting, Long etaMs) {
    /** The place in a sentence. */
    public String text() {
        String place = "You are " + position + " of " + waiting + " in line";
        return etaMs == null ? place + "." : place + ", for about " + Math.max(1, etaMs / 1_000) + " s.";
    }
}
