package networkhub.platform;

import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.StringJoiner;
import net.md_5.bungee.api.ChatColor;
import net.md_5.bungee.api.CommandSender;
import net.md_5.bungee.api.chat.BaseComponent;

/** The console, with its output collected. */
final class BungeeOutput implements CommandSender {
    private final StringJoiner lines = new StringJoiner("\n");

    synchronized String text() {
        return lines.toString();
    }

    @Override
    public String getName() {
        return "CONSOLE";
    }

    @Override
    @Deprecated
    public synchronized void sendMessage(String message) {
        lines.add(ChatColor.stripColor(message));
    }

    @Override
    @Deprecated
    public void sendMessages(String... messages) {
        for (String message : messages) sendMessage(message);
    }

    @Override
    public synchronized void sendMessage(BaseComponent... message) {
        StringBuilder line = new StringBuilder();
        Arrays.stream(message).forEach(part -> line.append(part.toPlainText()));
        lines.add(line);
    }

    @Override
    public synchronized void sendMessage(BaseComponent message) {
        lines.add(message.toPlainText());
    }

    @Override
    public Collection<String> getGroups() {
        return List.of();
    }

    @Override
    public void addGroups(String... groups) {
        throw new UnsupportedOperationException("the console has no groups");
    }

    @Override
    public void removeGroups(String... groups) {
        throw new UnsupportedOperationException("the console has no groups");
    }

    @Override
    public boolean hasPermission(String permission) {
        return true;
    }

    @Override
    public void setPermission(String permission, boolean value) {
        throw new UnsupportedOperationException("the console may do everything");
    }

    @Override
    public Collection<String> getPermissions() {
        return List.of();
    }
}
