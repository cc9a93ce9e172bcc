package networkhub.plugin;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import networkhub.HubException;
import networkhub.model.PlayerSummary;

/** All commands, and what they share. Answers of the hub are awaited by nobody: they are sent when they come. */
final class Commands {
    private final HubPlugin plugin;
    private final Platform platform;
    private final Texts texts;
    private final List<HubCommand> all = new ArrayList<>();

    Commands(HubPlugin plugin, Platform platform, Texts texts) {
        this.plugin = plugin;
        this.platform = platform;
        this.texts = texts;
        all.addAll(new NetworkCommands(this, plugin, platform).commands());
        // Places are told to game servers.
        if (!platform.kind().isProxy()) all.add(new QueueCommand(this).command());
        all.addAll(new PunishmentCommands(this).commands());
        all.addAll(new MoneyCommands(this, platform).commands());
    }

    /** Those that are to be registered; beside other plugins only those that take nothing from them. */
    List<HubCommand> all() {
        PluginConfig config = plugin.config();
        boolean punishes = config.punishments().orElse(Neighbors.punishments(platform.plugins()).isEmpty());
        return all.stream()
                .filter(command -> !config.observes() || command.name().equals("hub"))
                .filter(command -> punishes || !PunishmentCommands.NAMES.contains(command.name()))
                .toList();
    }

    Connection connection() {
        return plugin.connection().orElse(null);
    }

    boolean may(Sender sender, String permission) {
        if (sender.isConsole() || permission == null) return true;
        Boolean known = plugin.permission(sender.player(), permission);
        return known != null ? known : platform.hasPermission(sender.player(), permission);
    }

    void run(HubCommand command, HubCommand.Action action, Sender sender, List<String> arguments) {
        if (!command.isAllowed(sender)) {
            answer(sender, "command.denied");
        } else if (connection() == null && !command.name().equals("hub")) {
            answer(sender, "command.unconfigured");
        } else if (plugin.observes() && !command.name().equals("hub")) {
            answer(sender, "command.observing");
        } else {
            try {
                if (!action.run(sender, arguments)) answer(sender, "command.usage", "usage", command.usage());
            } catch (RuntimeException failure) {
                failed(sender, failure);
            }
        }
    }

    void answer(Sender sender, String key, Object... namesAndValues) {
        sender.output().accept(texts.get(sender.player(), key, namesAndValues));
    }

    String text(Sender sender, String key) {
        return texts.get(sender.player(), key);
    }

    Texts texts() {
        return texts;
    }

    /** Tells the sender of a failure, if there is one: the end of a command's chain of futures. */
    void whenFailed(Sender sender, CompletableFuture<?> future) {
        future.whenComplete((answer, failure) -> {
            if (failure != null) failed(sender, failure);
        });
    }

    private void failed(Sender sender, Throwable failure) {
        HubException error = HubException.of(failure);
        if (error.isTransient()) {
            answer(sender, "command.away");
        } else {
            answer(sender, "command.failed", "reason", error.getMessage());
        }
    }

    /** The player of a name: one of this server, else one that the hub knows, the latest of them. */
    CompletableFuture<Optional<PlayerSummary>> find(String name) {
        return connection().hub.client().players().list(null, name, null, 0, 20).thenApply(page -> page.items().stream()
                .filter(player -> name.equalsIgnoreCase(player.username()))
                .findFirst());
    }

    /** Calls this with the player of a name, or tells the sender that there is none. */
    void withPlayer(Sender sender, String name, java.util.function.Function<PlayerSummary, CompletableFuture<?>> action) {
        whenFailed(sender, find(name).thenCompose(found -> {
            if (found.isPresent()) return action.apply(found.get());
            answer(sender, "command.unknown-player", "player", name);
            return CompletableFuture.completedFuture(null);
        }));
    }

    /** Names of the players here. */
    List<String> playerNames() {
        return List.copyOf(platform.players().values());
    }

    /** Names of the servers and their types. */
    List<String> serverNames() {
        Connection connection = connection();
        return connection == null ? List.of() : connection.servers.servers().stream().map(GameAddress::id).toList();
    }

    /** A command whose first argument is a player's name. */
    HubCommand forPlayer(String name, String usage, boolean isForAll, HubCommand.Action action) {
        return new HubCommand(this, name, usage, isForAll, action,
                arguments -> arguments.size() == 1 ? playerNames() : List.of());
    }

    static String rest(List<String> arguments, int from) {
        return from >= arguments.size() ? null : String.join(" ", arguments.subList(from, arguments.size()));
    }
}
