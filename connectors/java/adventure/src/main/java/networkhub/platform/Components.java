package networkhub.platform;

import net.kyori.adventure.text.Component;
import net.kyori.adventure.text.minimessage.MiniMessage;
import networkhub.plugin.Markup;

/** Texts as components. */
final class Components {
    private Components() {}

    /** A text with its markup; without it where a network's own text has what MiniMessage refuses. */
    static Component of(String text) {
        try {
            return MiniMessage.miniMessage().deserialize(text);
        } catch (RuntimeException malformed) {
            return Component.text(Markup.plain(text));
        }
    }
}
