package networkhub.connector;

/**
 * State of a connector.
 *
 * @param registered whether the hub knows the server
 * @param streamOpen whether events come
 * @param pendingChanges joins, leaves and changes of worlds that the hub has not confirmed
 * @param lastError what went wrong last, for people; null while all is well
 */
public record ConnectorStatus(boolean registered, boolean streamOpen, int pendingChanges, String lastError) {
    /** True if the server is registered and its event stream is open. */
    public boolean isConnected() {
        return registered && streamOpen && lastError == null;
    }
}
