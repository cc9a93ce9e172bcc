package networkhub.example.minestom;

import net.minestom.server.command.CommandSender;
import net.minestom.server.command.builder.Command;
import net.minestom.server.command.builder.arguments.ArgumentStringArray;
import net.minestom.server.command.builder.arguments.ArgumentType;
import net.minestom.server.command.builder.suggestion.SuggestionEntry;
import net.minestom.server.entity.Player;
import networkhub.plugin.HubCommand;
import networkhub.plugin.HubPlugin;
import networkhub.plugin.Sender;

/** A command of the plugin on Minestom. */
final class MinestomCommand extends Command {
    private static final String[] NONE = {};

    private final HubPlugin hub;

    MinestomCommand(HubPlugin hub, HubCommand command) {
        super(command.name());
        this.hub = hub;
        // Nothing is typed while the list of commands is made. One that is typed nevertheless is refused with words.
        setCondition((sender, typed) -> typed != null || command.isAllowed(sender(sender)));
        setDefaultExecutor((sender, context) -> command.run(sender(sender), NONE));
        ArgumentStringArray arguments = ArgumentType.StringArray("arguments");
        arguments.setSuggestionCallback((sender, context, suggestion) -> {
            String[] typed = suggestion.getInput().split(" ", -1);
            String[] words = java.util.Arrays.copyOfRange(typed, 1, typed.length);
            command.complete(sender(sender), words).forEach(word -> suggestion.addEntry(new SuggestionEntry(word)));
        });
        addSyntax((sender, context) -> command.run(sender(sender), context.get(arguments)), arguments);
    }

    private Sender sender(CommandSender sender) {
        if (sender instanceof Player player) return hub.player(player.getUuid(), player.getUsername());
        return hub.console(text -> sender.sendMessage(MinestomTexts.of(text)));
    }
}
