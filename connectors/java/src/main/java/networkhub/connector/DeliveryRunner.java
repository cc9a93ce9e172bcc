package networkhub.connector;

import static java.lang.System.Logger.Level.WARNING;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import java.util.function.Supplier;
import networkhub.HubClient;
import networkhub.HubException;
import networkhub.model.Delivery;
import networkhub.model.DeliveryClaim;
import networkhub.model.DeliveryOnLost;

/**
 * Claims the deliveries of the players who are here, runs their handlers and settles them. A delivery is run once for each claim, and
 * never when its claim may be over. Lives on the connector's thread.
 */
final class DeliveryRunner {
    private static final System.Logger LOG = System.getLogger("networkhub");
    /** A claim is good for a minute from its first request. Nothing is begun in its last seconds. */
    private static final Duration BEGIN_WITHIN = Duration.ofSeconds(50);
    /** Time for telling the hub of an end; a repeat is answered as before. */
    private static final Duration SETTLING = Duration.ofMinutes(10);
    private static final long MOST_PAUSE_SECONDS = 30;
    private static final int REMEMBERED = 1_000;

    /** @param where the thread of the handler; null for the player's */
    private record Kind(DeliveryHandler handler, boolean isInData, Executor where) {}

    private final HubClient client;
    private final ScheduledExecutorService thread;
    private final Tasks tasks;
    private final GameServer game;
    private final String serverId;
    private final PlayerDataStore data;
    private final Predicate<UUID> isHere;
    private final Map<String, Kind> kinds = new ConcurrentHashMap<>();
    private final Set<Long> underWay = new HashSet<>();
    /** Those of them that were offered again before the end of their claim was answered. */
    private final Set<Long> offeredAgain = new HashSet<>();
    /** Those that have failed and are tried again after a pause. */
    private final Set<Long> resting = new HashSet<>();
    /** Those whose effects are saved, though their claims were over: offered again, they are only settled. */
    private final Set<Long> carriedOut = new LinkedHashSet<>();
    /** Claimed ones that wait for the thread of their handler, by what gives them back. */
    private final Map<Long, Runnable> notBegun = new HashMap<>();
    private final CompletableFuture<Void> stopped = new CompletableFuture<>();
    private volatile boolean isStopping;

    DeliveryRunner(HubClient client, ScheduledExecutorService thread, GameServer game, String serverId, PlayerDataStore data,
            Predicate<UUID> isHere) {
        this.client = client;
        this.thread = thread;
        tasks = new Tasks(thread);
        this.game = game;
        this.serverId = serverId;
        this.data = data;
        this.isHere = isHere;
    }

    /** From any thread. */
    void handle(String kind, DeliveryHandler handler, boolean isInData, Executor where) {
        kinds.put(kind, new Kind(handler, isInData, where));
    }

    /** Asks for what can be claimed: of a player, or of all if null. */
    void look(UUID player) {
        if (kinds.isEmpty()) return;
        client.deliveries().ready(serverId, player).whenCompleteAsync((ready, failure) -> {
            if (failure == null) ready.items().forEach(each -> claim(each.deliveryId(), each.playerUuid(), each.kind()));
        }, thread);
    }

    /**
     * Claims nothing more, and gives back what was not begun. Completes when the rest is settled, or the time is up. From any thread.
     */
    CompletableFuture<Void> stop(Duration patience) {
        isStopping = true;
        tasks.run(() -> {
            List.copyOf(notBegun.values()).forEach(Runnable::run);
            if (underWay.isEmpty()) stopped.complete(null);
        });
        return stopped.completeOnTimeout(null, patience.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Claims a delivery that can be. */
    void claim(long id, UUID player, String kindName) {
        Kind kind = kinds.get(kindName);
        boolean isPossible = kind != null && player != null && isHere.test(player) && (!kind.isInData || data.isOpen(player));
        if (!isPossible || isStopping || resting.contains(id)) return;
        if (!underWay.add(id)) {
            offeredAgain.add(id);
            return;
        }
        long askedAt = System.nanoTime();
        String key = UUID.randomUUID().toString();
        Persist.call(thread, BEGIN_WITHIN, () -> client.deliveries().claim(id, serverId, key))
                .whenCompleteAsync((claimed, failure) -> {
                    if (failure == null) {
                        begin(kind, claimed, askedAt);
                        return;
                    }
                    over(id);
                    HubException error = HubException.of(failure);
                    if (error.status() != 404 && error.status() != 409) {
                        LOG.log(WARNING, "Delivery {0} cannot be claimed: {1}", id, error.getMessage());
                    }
                }, thread);
    }

    private void begin(Kind kind, DeliveryClaim claimed, long askedAt) {
        Delivery delivery = claimed.delivery();
        if (carriedOut.contains(delivery.deliveryId())) {
            complete(claimed);
            return;
        }
        UUID player = delivery.playerUuid();
        Duration left = BEGIN_WITHIN.minusNanos(System.nanoTime() - askedAt);
        // Its first taker decides: the player's thread, or the clock.
        AtomicBoolean taken = new AtomicBoolean();
        Runnable giveBack = () -> {
            String reason = isStopping ? "The server is stopping." : "The server did not get to it in time.";
            if (taken.compareAndSet(false, true)) fail(claimed, reason, true);
        };
        if (left.isNegative() || isStopping) {
            giveBack.run();
            return;
        }
        notBegun.put(delivery.deliveryId(), giveBack);
        tasks.later(left, giveBack);
        Executor where = kind.where == null ? task -> game.runFor(player, task) : kind.where;
        where.execute(() -> {
            if (!taken.compareAndSet(false, true)) return;
            if (!isHere.test(player)) {
                fail(claimed, "The player has left.", true);
                return;
            }
            try {
                if (kind.isInData) {
                    data.deliver(player, new InData(claimed), () -> {
                        kind.handler.deliver(delivery);
                        return null;
                    });
                } else {
                    kind.handler.deliver(delivery);
                    complete(claimed);
                }
            } catch (DeliveryException refusal) {
                fail(claimed, refusal.getMessage(), refusal.retry());
            } catch (Throwable failure) {
                LOG.log(WARNING, "Delivery " + delivery.deliveryId() + " failed", failure);
                fail(claimed, failure.getMessage() == null ? failure.toString() : failure.getMessage(), true);
            }
        });
    }

    private void complete(DeliveryClaim claimed) {
        long id = claimed.delivery().deliveryId();
        settle(claimed, Duration.ZERO, () -> client.deliveries().complete(id, claimed.claim()),
                "Delivery {0} was carried out, but the hub does not take it as settled: {1}");
    }

    private void fail(DeliveryClaim claimed, String reason, boolean retry) {
        long id = claimed.delivery().deliveryId();
        String shown = reason == null || reason.length() <= 500 ? reason : reason.substring(0, 500);
        settle(claimed, retry ? pause(claimed.delivery()) : Duration.ZERO,
                () -> client.deliveries().fail(id, claimed.claim(), shown, retry),
                "Delivery {0} was not carried out, and the hub does not take it back: {1}");
    }

    /** From one attempt to the next: a full inventory is not emptied at once. */
    private static Duration pause(Delivery delivery) {
        return Duration.ofSeconds(Math.min(1L << Math.min(delivery.attempts(), 10), MOST_PAUSE_SECONDS));
    }

    private void settle(DeliveryClaim claimed, Duration pause, Supplier<CompletableFuture<Delivery>> call, String complaint) {
        long id = claimed.delivery().deliveryId();
        Persist.call(thread, SETTLING, call).whenComplete((settled, failure) -> {
            done(claimed.delivery(), pause);
            if (failure != null) LOG.log(WARNING, complaint, id, HubException.of(failure).getMessage());
        });
    }

    /** From now on, or after a pause, it may be claimed again. */
    private void done(Delivery delivery, Duration pause) {
        long id = delivery.deliveryId();
        tasks.run(() -> {
            boolean wasOffered = over(id);
            if (!pause.isZero()) {
                resting.add(id);
                tasks.later(pause, () -> {
                    resting.remove(id);
                    look(delivery.playerUuid());
                });
            } else if (wasOffered) {
                look(delivery.playerUuid());
            }
        });
    }

    /** Nobody works at it any more. Returns whether it was offered again meanwhile. */
    private boolean over(long id) {
        underWay.remove(id);
        notBegun.remove(id);
        if (isStopping && underWay.isEmpty()) stopped.complete(null);
        return offeredAgain.remove(id);
    }

    /** A delivery that is settled by a save of the player's data. */
    private final class InData implements PlayerHold.DataClaim {
        private final DeliveryClaim claimed;

        InData(DeliveryClaim claimed) {
            this.claimed = claimed;
        }

        @Override
        public String claim() {
            return claimed.claim();
        }

        @Override
        public void settled() {
            done(claimed.delivery(), Duration.ZERO);
        }

        @Override
        public void savedAlone() {
            // One that is held is a person's to decide.
            if (claimed.delivery().onLost() == DeliveryOnLost.RETRY) carriedOut.add(claimed.delivery().deliveryId());
            if (carriedOut.size() > REMEMBERED) carriedOut.remove(carriedOut.iterator().next());
            complete(claimed);
        }

        @Override
        public void refused(HubException error) {
            fail(claimed, "It was carried out, but the hub does not take the player's data: " + error.getMessage(), false);
        }

        @Override
        public void lost() {
            fail(claimed, "The player's data was not saved.", true);
        }
    }
}
