package networkhub.connector;

/** Reason of a {@link DeliveryHandler} not to carry a delivery out. Throw it before anything was given. */
public final class DeliveryException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final boolean retry;

    /**
     * A refusal.
     *
     * @param reason for the people who look into it
     * @param retry whether it is offered again, up to 5 attempts in all; else it has failed for good
     */
    public DeliveryException(String reason, boolean retry) {
        super(reason);
        this.retry = retry;
    }

    /** True if it is offered again. */
    public boolean retry() {
        return retry;
    }
}
