package networkhub.connector;

import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import networkhub.model.ChatMessage;
import networkhub.model.Punishment;
import networkhub.model.SignedTransferCommand;

/** A game server that records its orders. */
final class FakeGame implements GameServer, AutoCloseable {
    final List<SignedTransferCommand> transfers = new CopyOnWriteArrayList<>();
    final List<UUID> kicked = new CopyOnWriteArrayList<>();
    final List<ChatMessage> chat = new CopyOnWriteArrayList<>();
    final List<String> commands = new CopyOnWriteArrayList<>();
    final List<Thread> threads = new CopyOnWriteArrayList<>();
    private final ExecutorService main = Executors.newSingleThreadExecutor();
    volatile boolean refusesTransfers;
    /** Thread of what concerns a player. */
    volatile Executor playersThread = main;

    @Override
    public void runOnMainThread(Runnable task) {
        main.execute(task);
    }

    @Override
    public void runFor(UUID player, Runnable task) {
        playersThread.execute(task);
    }

    @Override
    public void transferPlayer(UUID player, SignedTransferCommand command) {
        threads.add(Thread.currentThread());
        if (refusesTransfers) throw new IllegalStateException("the player is in a cutscene");
        transfers.add(command);
    }

    @Override
    public void kickPlayer(UUID player, Punishment reason) {
        kicked.add(player);
    }

    @Override
    public void showChat(ChatMessage message) {
        chat.add(message);
    }

    @Override
    public String runCommand(String command) {
        commands.add(command);
        if (command.equals("fail")) throw new IllegalStateException("no such command");
        return "ran " + command;
    }

    @Override
    public void close() {
        main.shutdownNow();
    }
}
