package networkhub.connector;

import java.util.UUID;
import java.util.concurrent.Executor;
import networkhub.model.ChatMessage;
import networkhub.model.Punishment;
import networkhub.model.SignedTransferCommand;

/**
 * A game server or proxy, as the hub needs it; the only interface that a plugin implements.
 *
 * <p><b>Threads.</b> {@link #runOnMainThread} is called on the connector's thread and must return at once, as is {@link #runFor}. All other
 * methods are called through one of the two, so where a plugin may touch the game or the player. Whatever they throw is reported to
 * the hub or logged; it stops nothing.
 */
public interface GameServer extends Executor {
    /** Hands a task to the main thread, to run there soon: on Paper the scheduler's {@code runTask}. */
    void runOnMainThread(Runnable task);

    /**
     * Hands a task that concerns one player to the thread that may touch them, where that is not the main thread: on Folia the player's
     * scheduler. The task is dropped if they left.
     */
    default void runFor(UUID player, Runnable task) {
        runOnMainThread(task);
    }

    /**
     * Sends a player of this server to another one. The command is verified: it is signed, not expired, not used before, and
     * the player is here. On a proxy connect them to the server {@code targetServerId}; on a game server use the transfer
     * packet to {@code host} and {@code port}.
     *
     * @throws RuntimeException if that is not possible; the hub learns the message
     */
    void transferPlayer(UUID player, SignedTransferCommand command);

    /** Removes a player of this server, who was banned or kicked. */
    void kickPlayer(UUID player, Punishment reason);

    /** Shows a line of the network's chat; it may come from any server, this one included. */
    void showChat(ChatMessage message);

    /**
     * Runs a console command and answers what it printed.
     *
     * @param command without a slash in front
     * @throws RuntimeException if it failed; the caller learns the message
     */
    String runCommand(String command);

    /** The same as {@link #runOnMainThread}, so that a {@code GameServer} may be given to {@code thenAcceptAsync}. */
    @Override
    default void execute(Runnable task) {
        runOnMainThread(task);
    }
}
