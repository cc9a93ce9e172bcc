package networkhub.platform;

import java.util.Locale;
import net.md_5.bungee.api.ChatColor;
import net.md_5.bungee.api.chat.BaseComponent;
import net.md_5.bungee.api.chat.ClickEvent;
import net.md_5.bungee.api.chat.HoverEvent;
import net.md_5.bungee.api.chat.TextComponent;
import net.md_5.bungee.api.chat.hover.content.Text;
import networkhub.plugin.Markup;

/** Texts as BungeeCord's components. */
final class BungeeTexts {
    private BungeeTexts() {}

    static BaseComponent of(String text) {
        TextComponent whole = new TextComponent();
        for (Markup.Span span : Markup.parse(text)) whole.addExtra(of(span));
        return whole;
    }

    private static BaseComponent of(Markup.Span span) {
        TextComponent component = new TextComponent(span.text());
        if (span.color() != null) component.setColor(ChatColor.of(span.color()));
        for (String decoration : span.decorations()) decorate(component, decoration);
        if (span.click() != null) click(component, span.click());
        if (span.hover() != null) {
            component.setHoverEvent(new HoverEvent(HoverEvent.Action.SHOW_TEXT, new Text(new BaseComponent[] {of(span.hover())})));
        }
        return component;
    }

    private static void decorate(TextComponent component, String decoration) {
        switch (decoration) {
            case "bold" -> component.setBold(true);
            case "italic" -> component.setItalic(true);
            case "underlined" -> component.setUnderlined(true);
            case "strikethrough" -> component.setStrikethrough(true);
            default -> component.setObfuscated(true);
        }
    }

    /** Of actions that are unknown the text is shown. */
    private static void click(TextComponent component, String click) {
        int colon = click.indexOf(':');
        try {
            ClickEvent.Action action = ClickEvent.Action.valueOf(click.substring(0, colon).toUpperCase(Locale.ROOT));
            component.setClickEvent(new ClickEvent(action, click.substring(colon + 1)));
        } catch (IllegalArgumentException unknown) {
            component.setClickEvent(null);
        }
    }
}
