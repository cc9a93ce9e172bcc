package networkhub.model;

/**
 * A command that the hub wants run on a server's console.
 *
 * @param requestId to answer with
 * @param command the line, without a slash in front
 * @param timeoutMs how long the caller waits, in milliseconds
 * @param at when it was sent, in milliseconds since the epoch
 */
public record ConsoleCommand(
        String requestId, String command, long timeoutMs, long at) {}
