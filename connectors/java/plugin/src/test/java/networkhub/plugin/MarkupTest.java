package networkhub.plugin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import net.kyori.adventure.text.minimessage.MiniMessage;
import net.kyori.adventure.text.serializer.plain.PlainTextComponentSerializer;
import org.junit.jupiter.api.Test;

class MarkupTest {
    private static String official(String text) {
        return PlainTextComponentSerializer.plainText().serialize(MiniMessage.miniMessage().deserialize(text));
    }

    @Test
    void plainTextIsMiniMessages() {
        List<String> texts = new java.util.ArrayList<>(List.of("a<red>b</red>c", "<gold><b>x</gold>y", "1 < 2 > 3", "<unknown>x</unknown>",
                "\\<red>x", "a\\\\b", "a\\b", "<click:run_command:'/a <b>'>x</click>", "<hover:show_text:'<red>it\\'s'>x</hover>y",
                "<#12ab34>x", "x<newline>y", "<red>a<reset>b", "</red>x", "<", "<red", "a <b c"));
        Texts.DEFAULTS.values().forEach(language -> texts.addAll(language.values()));
        for (String text : texts) assertEquals(official(text), Markup.plain(text), text);
    }

    @Test
    void valuesAreShownAsTheyAre() {
        for (String value : List.of("<red>x", "\\<red>", "a\\", "{player}", "<<>>", "</white>", "it's \"fine\"")) {
            String text = Texts.fill("<white>{player}</white><red>!</red>", "player", value);
            assertEquals(value + "!", official(text), text);
            assertEquals(value + "!", Markup.plain(text), text);
        }
        assertEquals("cx", official(Texts.fill("{v}", "v", "\u00a7cx")));
    }

    @Test
    void stylesAreKept() {
        List<Markup.Span> spans = Markup.parse("<red>a<b>b</b></red><click:run_command:'/hub'>c");
        assertEquals(List.of(
                new Markup.Span("a", "red", Set.of(), null, null),
                new Markup.Span("b", "red", Set.of("bold"), null, null),
                new Markup.Span("c", null, Set.of(), "run_command:/hub", null)), spans);
    }

    @Test
    void languagesHaveTheSameTextsWithTheSameValues() {
        Map<String, String> english = Texts.DEFAULTS.get("en");
        for (Map<String, String> language : Texts.DEFAULTS.values()) {
            assertEquals(english.keySet(), language.keySet());
            english.forEach((key, text) -> assertEquals(values(text), values(language.get(key)), key));
        }
    }

    private static Set<String> values(String text) {
        Set<String> names = new TreeSet<>();
        Matcher matcher = Pattern.compile("\\{(\\w+)}").matcher(text);
        while (matcher.find()) names.add(matcher.group(1));
        return names;
    }

    @Test
    void durationsAreRead() {
        assertEquals(OptionalLong.of(129_600_000), Durations.parse("1d12H"));
        assertEquals(OptionalLong.of(2_592_000_000L), Durations.parse("1mo"));
        for (String wrong : List.of("", "1", "d", "1x", "0s", "-1d", "flying")) assertTrue(Durations.parse(wrong).isEmpty(), wrong);
        assertEquals("1d12h", Durations.format(129_600_000));
        assertEquals("1s", Durations.format(1));
    }
}
