package networkhub.plugin;

import java.util.List;
import java.util.Locale;

/** A command of the plugin, as a jar registers it. */
public final class HubCommand {
    /** Work of a command. */
    interface Action {
        /** @return false if the arguments are wrong */
        boolean run(Sender sender, List<String> arguments);
    }

    /** Completion of a command. */
    interface Completion {
        /** Words that the last argument may become. */
        List<String> complete(List<String> arguments);
    }

    private final Commands commands;
    private final String name;
    private final String usage;
    private final boolean isForAll;
    private final Action action;
    private final Completion completion;

    HubCommand(Commands commands, String name, String usage, boolean isForAll, Action action, Completion completion) {
        this.commands = commands;
        this.name = name;
        this.usage = usage;
        this.isForAll = isForAll;
        this.action = action;
        this.completion = completion;
    }

    /** Its name, without a slash. */
    public String name() {
        return name;
    }

    /** The permission to use it; null for everybody. */
    public String permission() {
        return isForAll ? null : "network-hub.command." + name;
    }

    String usage() {
        return "/" + name + (usage.isEmpty() ? "" : " " + usage);
    }

    /** True if somebody may use it. */
    public boolean isAllowed(Sender sender) {
        return commands.may(sender, permission());
    }

    /** Runs it, if the sender may; answers go to the sender, perhaps later. */
    public void run(Sender sender, String[] arguments) {
        commands.run(this, action, sender, List.of(arguments));
    }

    /** Words that the last argument may become; none for those who may not use it. */
    public List<String> complete(Sender sender, String[] arguments) {
        if (!isAllowed(sender)) return List.of();
        String[] typed = arguments.length == 0 ? new String[] {""} : arguments;
        String beginning = typed[typed.length - 1].toLowerCase(Locale.ROOT);
        return completion.complete(List.of(typed)).stream()
                .filter(word -> word.toLowerCase(Locale.ROOT).startsWith(beginning))
                .sorted(String.CASE_INSENSITIVE_ORDER)
                .toList();
    }
}
