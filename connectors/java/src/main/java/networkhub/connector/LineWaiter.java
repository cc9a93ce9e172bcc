package networkhub.connector;

import static java.lang.System.Logger.Level.WARNING;

import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Consumer;
import java.util.function.Predicate;
import networkhub.HubClient;
import networkhub.HubException;
import networkhub.model.Match;
import networkhub.model.Ticket;
import networkhub.model.TicketMatched;
import networkhub.model.TicketRequest;
import networkhub.model.TicketState;
import networkhub.model.TicketUpdated;
import networkhub.model.TransferOutcome;

/** The waiting lines, for the players who are here: tells their places, and sends them where there is room. */
final class LineWaiter {
    private static final System.Logger LOG = System.getLogger("networkhub");
    /** Lifetime of a matched ticket's slots. */
    private static final Duration SLOTS = Duration.ofSeconds(15);
    private static final int MATCHES_KEPT = 1_000;
    private static final Duration READING = Duration.ofSeconds(30);

    private final HubClient client;
    private final ScheduledExecutorService thread;
    private final TransferHandler transfers;
    private final String serverId;
    private final boolean isProxy;
    private final Predicate<UUID> isHere;
    private final Map<UUID, Place> places = new ConcurrentHashMap<>();
    private final List<Consumer<Place>> placeListeners = new CopyOnWriteArrayList<>();
    private final List<Consumer<TicketMatched>> matchListeners = new CopyOnWriteArrayList<>();
    /** Matches that were carried out: an event may come again. On the connector's thread. */
    private final Set<UUID> matches = new LinkedHashSet<>();
    /** Requests for tickets that are under way. */
    private final Set<Asked> asked = ConcurrentHashMap.newKeySet();

    /** A request for a ticket. */
    private static final class Asked {
        final UUID player;
        /** Tickets of the player that events told of since. */
        final Set<UUID> told = ConcurrentHashMap.newKeySet();

        Asked(UUID player) {
            this.player = player;
        }
    }

    LineWaiter(HubClient client, ScheduledExecutorService thread, TransferHandler transfers, String serverId, boolean isProxy,
            Predicate<UUID> isHere) {
        this.client = client;
        this.thread = thread;
        this.transfers = transfers;
        this.serverId = serverId;
        this.isProxy = isProxy;
        this.isHere = isHere;
    }

    void onPlace(Consumer<Place> listener) {
        placeListeners.add(listener);
    }

    void onMatch(Consumer<TicketMatched> listener) {
        matchListeners.add(listener);
    }

    Optional<Place> place(UUID player) {
        return Optional.ofNullable(places.get(player));
    }

    CompletableFuture<Ticket> join(TicketRequest request) {
        Asked question = new Asked(request.playerUuid());
        asked.add(question);
        return client.matchmaking().joinLine(request).whenCompleteAsync((ticket, failure) -> {
            asked.remove(question);
            if (failure != null) return;
            // An event is newer.
            if (ticket.state() == TicketState.WAITING && question.told.contains(ticket.ticketId())) return;
            take(request.playerUuid(), ticket);
        }, thread);
    }

    private void told(UUID player, UUID ticketId) {
        for (Asked question : asked) {
            if (question.player.equals(player)) question.told.add(ticketId);
        }
    }

    private void take(UUID player, Ticket ticket) {
        if (ticket.state() == TicketState.WAITING && ticket.position() != null) {
            moved(new Place(player, ticket.ticketId(), ticket.position(), ticket.waiting(), ticket.etaMs()));
        } else if (ticket.state() != TicketState.WAITING) {
            places.remove(player);
        }
    }

    /** The place stays until the hub has confirmed it, so that it can be left again. */
    CompletableFuture<Boolean> leave(UUID player) {
        Place place = places.get(player);
        if (place == null) return CompletableFuture.completedFuture(false);
        return client.matchmaking().leaveLine(place.ticketId()).thenApply(wasWaiting -> {
            places.computeIfPresent(player, (id, now) -> now.ticketId().equals(place.ticketId()) ? null : now);
            return wasWaiting;
        });
    }

    /** Events may have been missed: reads the tickets again. On the connector's thread. */
    void resync() {
        for (Place place : places.values()) {
            Persist.call(thread, READING, () -> client.matchmaking().ticket(place.ticketId())).whenCompleteAsync((ticket, failure) -> {
                // An event is newer.
                if (failure != null || places.get(place.playerUuid()) != place) return;
                ticket.ifPresentOrElse(now -> take(place.playerUuid(), now), () -> places.remove(place.playerUuid()));
            }, thread);
        }
    }

    /** The place is told to the server where the player is by then. */
    void left(UUID player) {
        places.remove(player);
    }

    /** On the connector's thread. */
    void updated(TicketUpdated event) {
        if (!isHere.test(event.playerUuid())) return;
        told(event.playerUuid(), event.ticketId());
        moved(new Place(event.playerUuid(), event.ticketId(), event.position(), event.waiting(), event.etaMs()));
    }

    private void moved(Place place) {
        Place before = places.put(place.playerUuid(), place);
        if (place.equals(before)) return;
        each(placeListeners, place);
    }

    /** Sends those of the match who are here; the servers of the others send theirs. On the connector's thread. */
    void matched(TicketMatched event) {
        told(event.playerUuid(), event.ticketId());
        Match match = event.match();
        if (match == null || match.transferId() == null || match.matchedServer() == null) return;
        if (!matches.add(match.transferId())) return;
        if (matches.size() > MATCHES_KEPT) matches.remove(matches.iterator().next());
        Set<UUID> players = new LinkedHashSet<>(event.party());
        players.add(event.playerUuid());
        players.removeIf(player -> !isHere.test(player));
        players.forEach(places::remove);
        if (!players.isEmpty()) each(matchListeners, event);
        if (isProxy) return;
        String server = match.matchedServer().serverId();
        String world = match.matchedWorld() == null ? null : match.matchedWorld().worldId();
        for (UUID player : players) {
            if (server.equals(serverId)) continue;
            CompletableFuture<TransferOutcome> outcome = new CompletableFuture<>();
            transfers.ask(player, server, world, SLOTS, outcome);
            outcome.whenComplete((sent, failure) -> {
                String problem = failure != null ? HubException.of(failure).getMessage() : sent.success() ? null : sent.errorMessage();
                if (problem != null) LOG.log(WARNING, "Player {0} was matched, but cannot be sent: {1}", player, problem);
            });
        }
    }

    private static <T> void each(List<Consumer<T>> listeners, T event) {
        for (Consumer<T> listener : listeners) {
            try {
                listener.accept(event);
            } catch (RuntimeException failure) {
                LOG.log(WARNING, "A listener of waiting lines failed", failure);
            }
        }
    }
}
