package networkhub.example.minestom;

import java.util.Locale;
import net.kyori.adventure.text.Component;
import net.kyori.adventure.text.TextComponent;
import net.kyori.adventure.text.format.TextColor;
import net.kyori.adventure.text.format.NamedTextColor;
import net.kyori.adventure.text.format.TextDecoration;
import networkhub.plugin.Markup;

/** Texts as Minestom's components, with their colors and decorations. */
final class MinestomTexts {
    private MinestomTexts() {}

    static Component of(String text) {
        TextComponent.Builder whole = Component.text();
        for (Markup.Span span : Markup.parse(text)) {
            TextComponent.Builder part = Component.text().content(span.text());
            if (span.color() != null) part.color(color(span.color()));
            for (String decoration : span.decorations()) part.decorate(TextDecoration.valueOf(decoration.toUpperCase(Locale.ROOT)));
            whole.append(part.build());
        }
        return whole.build();
    }

    private static TextColor color(String name) {
        return name.startsWith("#") ? TextColor.fromHexString(name) : NamedTextColor.NAMES.value(name);
    }
}
