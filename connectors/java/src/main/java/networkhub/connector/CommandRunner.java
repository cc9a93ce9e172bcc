package networkhub.connector;

import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import networkhub.HubClient;
import networkhub.model.ConsoleCommandOrder;

/** Runs the console commands that the hub asks for, and answers them. Never runs one whose caller has timed out. */
final class CommandRunner {
    private static final System.Logger LOG = System.getLogger("networkhub");

    private final HubClient client;
    private final ScheduledExecutorService thread;
    private final GameServer game;
    private final HubClock clock;

    CommandRunner(HubClient client, ScheduledExecutorService thread, GameServer game, HubClock clock) {
        this.client = client;
        this.thread = thread;
        this.game = game;
        this.clock = clock;
    }

    /** On the connector's thread. */
    void run(ConsoleCommandOrder command, long sentAt) {
        long left = sentAt + command.timeoutMs() - clock.now();
        if (left <= 0) {
            LOG.log(System.Logger.Level.INFO, "A console command came too late and was not run");
            return;
        }
        // Its first taker reports: the main thread, or the clock.
        AtomicBoolean taken = new AtomicBoolean();
        thread.schedule(() -> {
            if (taken.compareAndSet(false, true)) {
                answer(command, false, null, "The server's main thread did not get to it in time; it was not run.");
            }
        }, left * 9 / 10, TimeUnit.MILLISECONDS);
        game.runOnMainThread(() -> {
            if (!taken.compareAndSet(false, true)) return;
            try {
                answer(command, true, game.runCommand(command.command()), null);
            } catch (RuntimeException failure) {
                answer(command, false, null, failure.getMessage() == null ? failure.toString() : failure.getMessage());
            }
        });
    }

    private void answer(ConsoleCommandOrder command, boolean success, String output, String error) {
        Duration patience = Duration.ofMillis(command.timeoutMs());
        Persist.call(thread, patience, () ->
                client.servers().reportCommand(command.requestId(), success, output, error));
    }
}
