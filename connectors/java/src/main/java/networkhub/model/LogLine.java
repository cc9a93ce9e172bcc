package networkhub.model;

/**
 * A line of a server's console.
 *
 * @param at milliseconds since the epoch
 * @param stream {@code stdout} or {@code stderr}
 * @param text the line
 */
public record LogLine(
        long at, String stream, String text) {}
