package networkhub.plugin;

import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import networkhub.connector.HubConnector;
import networkhub.model.TicketRequest;
import networkhub.model.TicketState;

/** /queue: waits for a type of server, shows the place, or leaves the line. */
final class QueueCommand {
    private final Commands commands;

    QueueCommand(Commands commands) {
        this.commands = commands;
    }

    HubCommand command() {
        return new HubCommand(commands, "queue", "[TYPE|leave]", true, this::run,
                arguments -> arguments.size() == 1 ? List.of("leave") : List.of());
    }

    private boolean run(Sender sender, List<String> arguments) {
        if (arguments.size() > 1) return false;
        if (sender.isConsole()) {
            commands.answer(sender, "command.players-only");
            return true;
        }
        HubConnector hub = commands.connection().hub;
        if (arguments.isEmpty()) {
            hub.place(sender.player()).ifPresentOrElse(
                    place -> commands.answer(sender, "queue.place", "position", place.position(), "waiting", place.waiting()),
                    () -> commands.answer(sender, "queue.none"));
        } else if (arguments.get(0).toLowerCase(Locale.ROOT).equals("leave")) {
            commands.whenFailed(sender, hub.leaveLine(sender.player()).thenAccept(wasWaiting ->
                    commands.answer(sender, wasWaiting ? "queue.left" : "queue.none")));
        } else {
            commands.whenFailed(sender, join(sender, hub, arguments.get(0)));
        }
        return true;
    }

    /** The place is told by the connector, and a match carried out. */
    private CompletableFuture<?> join(Sender sender, HubConnector hub, String type) {
        TicketRequest request =
                TicketRequest.builder().playerUuid(sender.player()).playerName(sender.name()).serverType(type)
                        .region(commands.connection().config.region()).build();
        return hub.waitInLine(request).thenAccept(ticket -> {
            if (ticket.state() != TicketState.EXPIRED) return;
            String reason = ticket.match() == null ? "" : ticket.match().errorMessage() != null
                    ? ticket.match().errorMessage() : String.valueOf(ticket.match().result());
            commands.answer(sender, "queue.refused", "reason", reason);
        });
    }
}
