package networkhub.plugin;

import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import networkhub.model.MatchRequest;

/** /hub, /find, /server, /lobby, /send, /maintenance, /alert. */
final class NetworkCommands {
    private static final List<String> SELECTION = List.of("status", "doctor", "reload", "differences");

    private final Commands commands;
    private final HubPlugin plugin;
    private final Platform platform;

    NetworkCommands(Commands commands, HubPlugin plugin, Platform platform) {
        this.commands = commands;
        this.plugin = plugin;
        this.platform = platform;
    }

    List<HubCommand> commands() {
        return List.of(
                new HubCommand(commands, "hub", String.join("|", SELECTION), false, this::hub,
                        arguments -> arguments.size() == 1 ? SELECTION : List.of()),
                commands.forPlayer("find", "PLAYER", false, this::find),
                new HubCommand(commands, "server", "[SERVER]", true, this::server,
                        arguments -> arguments.size() == 1 ? commands.serverNames() : List.of()),
                new HubCommand(commands, "lobby", "", true, this::lobby, arguments -> List.of()),
                new HubCommand(commands, "send", "PLAYER SERVER", false, this::send, arguments -> switch (arguments.size()) {
                    case 1 -> commands.playerNames();
                    case 2 -> commands.serverNames();
                    default -> List.of();
                }),
                new HubCommand(commands, "alert", "TEXT", false, this::alert, arguments -> List.of()),
                new HubCommand(commands, "maintenance", "on|off|list|add PLAYER|remove PLAYER", false, this::maintenance,
                        this::completeMaintenance));
    }

    private boolean hub(Sender sender, List<String> arguments) {
        switch (arguments.isEmpty() ? "status" : arguments.get(0).toLowerCase(Locale.ROOT)) {
            case "status" -> status(sender);
            case "doctor" -> new Doctor(platform, commands.connection()).run().thenAccept(findings -> findings.forEach(finding ->
                    sender.output().accept(finding.level().mark() + " " + Markup.escape(finding.subject() + ": " + finding.detail()))));
            case "reload" -> CompletableFuture.runAsync(plugin::reload)
                    .whenComplete((nothing, failure) -> commands.answer(sender,
                            failure == null ? "command.reloaded" : "command.failed", "reason", String.valueOf(failure)));
            case "differences" -> plugin.differences().forEach(line -> sender.output().accept(Markup.escape(line)));
            default -> {
                return false;
            }
        }
        return true;
    }

    private void status(Sender sender) {
        Connection connection = commands.connection();
        if (connection == null) {
            commands.answer(sender, "command.unconfigured");
            return;
        }
        var status = connection.hub.status();
        sender.output().accept(Markup.escape("Network Hub " + HubPlugin.version() + " on " + platform.kind().title() + ", server "
                + connection.config.serverId() + " of type " + connection.config.type()));
        sender.output().accept(Markup.escape(status.isConnected() ? "Connected; " + connection.servers.servers().size()
                + " game servers, " + connection.servers.players() + " players" : "Not connected: " + status.lastError()));
    }

    private boolean find(Sender sender, List<String> arguments) {
        if (arguments.size() != 1) return false;
        commands.withPlayer(sender, arguments.get(0), player -> {
            if (player.connection() == null) {
                commands.answer(sender, "find.offline", "player", player.username());
            } else {
                commands.answer(sender, "find.online", "player", player.username(), "server", player.connection().serverId());
            }
            return CompletableFuture.completedFuture(null);
        });
        return true;
    }

    private boolean server(Sender sender, List<String> arguments) {
        if (arguments.size() > 1) return false;
        if (arguments.isEmpty()) {
            commands.answer(sender, "server.list", "servers", String.join(", ", commands.serverNames()));
        } else if (sender.isConsole()) {
            commands.answer(sender, "command.players-only");
        } else {
            moveSelf(sender, MatchRequest.builder().serverId(arguments.get(0)));
        }
        return true;
    }

    private boolean lobby(Sender sender, List<String> arguments) {
        if (!arguments.isEmpty()) return false;
        if (sender.isConsole()) {
            commands.answer(sender, "command.players-only");
        } else {
            moveSelf(sender, MatchRequest.builder().serverType(commands.connection().settings.lobbyType()));
        }
        return true;
    }

    private void moveSelf(Sender sender, MatchRequest.Builder where) {
        MatchRequest request = where.playerUuid(sender.player()).playerName(sender.name())
                .region(commands.connection().config.region()).build();
        commands.whenFailed(sender, commands.connection().hub.client().matchmaking().find(request).thenCompose(match -> {
            if (!match.success()) {
                commands.answer(sender, "move.refused", "reason", reason(match.errorMessage(), match.result()));
                return CompletableFuture.completedFuture(null);
            }
            commands.answer(sender, "move.started", "server", match.matchedServer().serverId());
            return move(sender.player(), Router.of(match)).thenAccept(refusal -> {
                if (refusal != null) commands.answer(sender, "move.refused", "reason", refusal);
            });
        }));
    }

    private boolean send(Sender sender, List<String> arguments) {
        if (arguments.size() != 2) return false;
        String server = arguments.get(1);
        commands.withPlayer(sender, arguments.get(0), player -> {
            MatchRequest request =
                    MatchRequest.builder().serverId(server).playerUuid(player.uuid()).playerName(player.username()).build();
            return commands.connection().hub.client().matchmaking().find(request).thenCompose(match -> match.success()
                    ? move(player.uuid(), Router.of(match))
                    : CompletableFuture.completedFuture(reason(match.errorMessage(), match.result())))
                    .thenAccept(refusal -> commands.answer(sender, refusal == null ? "send.done" : "send.refused",
                            "player", player.username(), "server", server, "reason", refusal));
        });
        return true;
    }

    /** Sends a player on: a proxy those who are on it, else the player's server. Completes with the reason why not, or null. */
    private CompletableFuture<String> move(UUID player, GameAddress target) {
        if (!platform.kind().isProxy() || !platform.players().containsKey(player)) {
            return commands.connection().hub.transfer(player, target.id(), null).thenApply(outcome ->
                    outcome.success() ? null : reason(outcome.errorMessage(), outcome.result()));
        }
        CompletableFuture<String> moved = new CompletableFuture<>();
        platform.executeFor(player, () -> {
            try {
                platform.connect(player, target);
                moved.complete(null);
            } catch (RuntimeException failure) {
                moved.complete(failure.getMessage());
            }
        });
        return moved;
    }

    private static String reason(String message, Object result) {
        return message == null ? String.valueOf(result) : message;
    }

    private boolean alert(Sender sender, List<String> arguments) {
        if (arguments.isEmpty()) return false;
        commands.whenFailed(sender, commands.connection().alerts.send(String.join(" ", arguments))
                .thenRun(() -> commands.answer(sender, "alert.sent")));
        return true;
    }

    private boolean maintenance(Sender sender, List<String> arguments) {
        Settings settings = commands.connection().settings;
        String verb = arguments.isEmpty() ? "" : arguments.get(0).toLowerCase(Locale.ROOT);
        String name = arguments.size() == 2 ? arguments.get(1) : null;
        switch (verb) {
            case "on", "off" -> commands.whenFailed(sender, settings.setMaintenance(verb.equals("on"))
                    .thenRun(() -> commands.answer(sender, "maintenance." + verb)));
            case "list" -> commands.answer(sender, "maintenance.list", "players", String.join(", ", settings.maintenanceList()));
            case "add", "remove" -> {
                if (name == null) return false;
                commands.whenFailed(sender, settings.setOnMaintenanceList(name, verb.equals("add")).thenRun(() ->
                        commands.answer(sender, verb.equals("add") ? "maintenance.added" : "maintenance.removed", "player", name)));
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    private List<String> completeMaintenance(List<String> arguments) {
        if (arguments.size() == 1) return List.of("on", "off", "list", "add", "remove");
        if (arguments.size() != 2) return List.of();
        return switch (arguments.get(0)) {
            case "add" -> commands.playerNames();
            case "remove" -> commands.connection() == null ? List.of() : commands.connection().settings.maintenanceList();
            default -> List.of();
        };
    }
}
