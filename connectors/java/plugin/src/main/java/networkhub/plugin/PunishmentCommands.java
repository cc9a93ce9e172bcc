package networkhub.plugin;

import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import networkhub.PunishmentsApi;
import networkhub.model.NamePunishmentRequest;
import networkhub.model.NameUnban;
import networkhub.model.Punishment;
import networkhub.model.PunishmentKind;
import networkhub.model.PunishmentRemoval;
import networkhub.model.PunishmentRequest;

/** /ban, /mute, /warn, /kick, /unban, /unmute, /history, /report. */
final class PunishmentCommands {
    /** Names of the commands, which stay with another punishment plugin where there is one. */
    static final Set<String> NAMES = Set.of("ban", "mute", "warn", "kick", "unban", "unmute", "history");
    private static final int HISTORY = 10;

    private final Commands commands;

    PunishmentCommands(Commands commands) {
        this.commands = commands;
    }

    List<HubCommand> commands() {
        return List.of(
                punish("ban", PunishmentKind.BAN, "PLAYER [DURATION] [REASON]"),
                punish("mute", PunishmentKind.MUTE, "PLAYER [DURATION] [REASON]"),
                punish("warn", PunishmentKind.WARN, "PLAYER [REASON]"),
                punish("kick", PunishmentKind.KICK, "PLAYER [REASON]"),
                commands.forPlayer("unban", "PLAYER [REASON]", false, this::unban),
                commands.forPlayer("unmute", "PLAYER [REASON]", false, this::unmute),
                commands.forPlayer("history", "PLAYER", false, this::history),
                commands.forPlayer("report", "PLAYER REASON", true, this::report));
    }

    private PunishmentsApi api() {
        return commands.connection().hub.client().punishments();
    }

    private HubCommand punish(String name, PunishmentKind kind, String usage) {
        return commands.forPlayer(name, usage, false, (sender, arguments) -> {
            if (arguments.isEmpty()) return false;
            boolean mayHaveDuration = arguments.size() > 1 && (kind == PunishmentKind.BAN || kind == PunishmentKind.MUTE);
            OptionalLong duration = mayHaveDuration ? Durations.parse(arguments.get(1)) : OptionalLong.empty();
            boolean hasDuration = duration.isPresent();
            if (mayHaveDuration && !hasDuration && arguments.get(1).matches("\\d.*")) {
                // A slip must not become a punishment without an end.
                commands.answer(sender, "punish.duration", "duration", arguments.get(1));
                return true;
            }
            String reason = Commands.rest(arguments, hasDuration ? 2 : 1);
            commands.whenFailed(sender, punish(sender, arguments.get(0), kind, duration, reason).thenAccept(made -> {
                Punished punished = new Punished(commands.texts(), sender.player(), made);
                commands.answer(sender, "punish.done", "player", arguments.get(0), "type",
                        kind.name().toLowerCase(Locale.ROOT), "duration", punished.duration(), "reason", punished.reason());
            }));
            return true;
        });
    }

    /** Punishes by UUID where the player is known, else by name: a ban may precede the first join. */
    private CompletableFuture<Punishment> punish(Sender sender, String name, PunishmentKind kind, OptionalLong duration, String reason) {
        Long durationMs = duration.isPresent() ? duration.getAsLong() : null;
        return commands.find(name).thenCompose(found -> found.isPresent()
                ? api().punish(PunishmentRequest.builder().playerUuid(found.get().uuid()).playerName(found.get().username()).type(kind)
                        .durationMs(durationMs).reason(reason).issuerUuid(sender.player()).issuerName(sender.name()).build())
                : api().punishName(NamePunishmentRequest.builder().playerName(name).type(kind)
                        .durationMs(durationMs).reason(reason).issuerUuid(sender.player()).issuerName(sender.name()).build()));
    }

    private boolean unban(Sender sender, List<String> arguments) {
        if (arguments.isEmpty()) return false;
        String name = arguments.get(0);
        NameUnban unban = NameUnban.builder().playerName(name).actorUuid(sender.player()).actorName(sender.name())
                .reason(Commands.rest(arguments, 1)).build();
        commands.whenFailed(sender, api().unbanName(unban).thenAccept(revoked -> revoked(sender, name, revoked.size())));
        return true;
    }

    private boolean unmute(Sender sender, List<String> arguments) {
        if (arguments.isEmpty()) return false;
        String name = arguments.get(0);
        String reason = Commands.rest(arguments, 1);
        commands.whenFailed(sender, of(name, true).thenCompose(active -> {
            List<CompletableFuture<Punishment>> removals = active.stream()
                    .filter(punishment -> punishment.type() == PunishmentKind.MUTE)
                    .map(punishment -> api().remove(PunishmentRemoval.builder().punishmentId(punishment.id())
                            .actorUuid(sender.player()).actorName(sender.name()).reason(reason).build()))
                    .toList();
            return CompletableFuture.allOf(removals.toArray(CompletableFuture[]::new))
                    .thenRun(() -> revoked(sender, name, removals.size()));
        }));
        return true;
    }

    private void revoked(Sender sender, String name, int count) {
        commands.answer(sender, count == 0 ? "punish.none" : "punish.revoked", "player", name, "count", count);
    }

    private CompletableFuture<List<Punishment>> of(String name, boolean activeOnly) {
        return commands.find(name).thenCompose(found -> {
            if (activeOnly) {
                return found.isPresent() ? api().ofPlayer(found.get().uuid(), true) : api().ofName(name, true);
            }
            return found.isPresent() ? api().historyOfPlayer(found.get().uuid(), HISTORY, 0) : api().historyOfName(name, HISTORY, 0);
        });
    }

    private boolean report(Sender sender, List<String> arguments) {
        if (arguments.size() < 2) return false;
        String name = arguments.get(0);
        if (sender.isConsole()) {
            commands.answer(sender, "command.players-only");
        } else if (name.equalsIgnoreCase(sender.name())) {
            commands.answer(sender, "report.self");
        } else {
            Connection connection = commands.connection();
            commands.withPlayer(sender, name, player -> connection.hub.client().reports()
                    .create(sender.player(), player.uuid(), Commands.rest(arguments, 1), connection.config.serverId())
                    .thenRun(() -> commands.answer(sender, "report.done", "player", player.username())));
        }
        return true;
    }

    private boolean history(Sender sender, List<String> arguments) {
        if (arguments.size() != 1) return false;
        String name = arguments.get(0);
        commands.whenFailed(sender, of(name, false).thenAccept(punishments -> {
            commands.answer(sender, punishments.isEmpty() ? "history.empty" : "history.title", "player", name);
            for (Punishment each : punishments) {
                Punished punished = new Punished(commands.texts(), sender.player(), each);
                commands.answer(sender, "history.line", "id", each.id(), "type", each.type().name().toLowerCase(Locale.ROOT),
                        "date", Punished.date(each.issuedAt()), "reason", punished.reason(), "duration", punished.duration(),
                        "state", new Texts.Part(commands.text(sender, each.active() ? "history.active" : "history.ended")),
                        "issuer", each.issuerName() == null ? "?" : each.issuerName());
            }
        }));
        return true;
    }
}
