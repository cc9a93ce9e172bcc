package networkhub.connector;

import networkhub.model.Delivery;

/** A plugin's way to carry out deliveries of a kind. */
@FunctionalInterface
public interface DeliveryHandler {
    /**
     * Carries a delivery out, where the player may be touched ({@link GameServer#runFor}). When it returns, the delivery is settled.
     * What it throws returns the delivery, to be offered again; a {@link DeliveryException} says whether.
     */
    void deliver(Delivery delivery) throws Exception;
}
