package networkhub.connector;

/**
 * How a connector is doing.
 *
 * @param registered whether the hub knows the server
 * @param streamOpen whether events come
 * @param pendingChanges joins, leaves and changes of worlds that the hub has not confirmed
 * @param lastError what went wrong last, for people; null while all is well
 */
public record ConnectorStatus(boolean registered, boolean streamOpen, int pendingChanges, String lastError) {
    /** Whether the hub hears the server and the server hears the hub. */
    public boolean isConnected() {
        return registered && streamOpen && lastError == null;
    }
}
