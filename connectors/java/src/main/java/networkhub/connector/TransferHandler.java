package networkhub.connector;

import static java.lang.System.Logger.Level.WARNING;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import networkhub.HubClient;
import networkhub.HubException;
import networkhub.model.SignedTransferCommand;
import networkhub.model.TransferOutcome;

/** Carries out transfer commands, and asks for transfers. */
final class TransferHandler {
    private static final System.Logger LOG = System.getLogger("networkhub");
    /** Lifetime of commands, and of reports of them. */
    private static final Duration COMMAND_TTL = Duration.ofSeconds(30);
    private static final long RETRY_MS = 1_000;

    private final HubClient client;
    private final ScheduledExecutorService thread;
    private final GameServer game;
    private final HubClock clock;
    private final TransferVerifier verifier;
    private final Predicate<UUID> isHere;
    private final Predicate<UUID> isJoining;

    TransferHandler(HubClient client, ScheduledExecutorService thread, GameServer game, HubClock clock,
            TransferVerifier verifier, Predicate<UUID> isHere, Predicate<UUID> isJoining) {
        this.client = client;
        this.thread = thread;
        this.game = game;
        this.clock = clock;
        this.verifier = verifier;
        this.isHere = isHere;
        this.isJoining = isJoining;
    }

    /** Carries out a command. On the connector's thread. */
    void carryOut(SignedTransferCommand command) {
        String refusal = verifier.refusal(command, clock.now());
        if (refusal != null) {
            LOG.log(WARNING, "Transfer {0} is refused: {1}", command.transferId(), refusal);
        } else if (!isHere.test(command.playerUuid())) {
            fail(command, "The player is not on this server.");
        } else {
            game.runFor(command.playerUuid(), () -> {
                try {
                    game.transferPlayer(command.playerUuid(), command);
                } catch (RuntimeException failure) {
                    fail(command, failure.getMessage() == null ? failure.toString() : failure.getMessage());
                }
            });
        }
    }

    private void fail(SignedTransferCommand command, String message) {
        Persist.call(thread, COMMAND_TTL, () ->
                client.transfers().report(command.transferId(), command.playerUuid(), "FAILED", message));
    }

    /**
     * Asks for a transfer, for as long as there is patience while the hub is away, the player's server is reconnecting, or the hub is
     * only learning that the player is here. On the connector's thread.
     */
    void ask(UUID player, String server, String world, Duration patience, CompletableFuture<TransferOutcome> result) {
        ask(player, server, world, System.nanoTime() + patience.toNanos(), result);
    }

    private void ask(UUID player, String server, String world, long deadline, CompletableFuture<TransferOutcome> result) {
        if (isJoining.test(player) && System.nanoTime() - deadline < 0) {
            later(() -> ask(player, server, world, deadline, result), result, 100);
            return;
        }
        String key = UUID.randomUUID().toString();
        Duration left = Duration.ofNanos(Math.max(0, deadline - System.nanoTime()));
        Persist.call(thread, left, () -> client.transfers().transfer(player, server, world, key))
                .whenCompleteAsync((outcome, failure) -> {
                    if (failure != null) {
                        result.completeExceptionally(HubException.of(failure));
                    } else if (isPassing(player, outcome) && System.nanoTime() - deadline < 0) {
                        later(() -> ask(player, server, world, deadline, result), result, RETRY_MS);
                    } else {
                        result.complete(outcome);
                    }
                }, thread);
    }

    private boolean isPassing(UUID player, TransferOutcome outcome) {
        return outcome.result().equals("NOT_CONNECTED") || outcome.result().equals("PLAYER_OFFLINE") && isHere.test(player);
    }

    private void later(Runnable task, CompletableFuture<?> result, long delayMs) {
        try {
            thread.schedule(task, delayMs, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException stopped) {
            result.completeExceptionally(new HubException("stopped", "The connector was stopped."));
        }
    }
}
