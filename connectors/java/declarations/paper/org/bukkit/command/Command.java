// Compile-only declaration of a part of Paper's API, written for this project; never in a jar.
package org.bukkit.command;

import java.util.List;

public abstract class Command {
    private final String name;

    protected Command(String name) {
        this.name = name;
    }

    public String getName() {
        return name;
    }

    public abstract boolean execute(CommandSender sender, String label, String[] arguments);

    public List<String> tabComplete(CommandSender sender, String alias, String[] arguments) {
        return List.of();
    }

    public boolean testPermissionSilent(CommandSender target) {
        return true;
    }
}
