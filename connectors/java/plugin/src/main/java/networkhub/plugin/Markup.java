package networkhub.plugin;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * The part of MiniMessage that the plugin uses, for platforms without it: colors, decorations, {@code <click:…>}, {@code <hover:show_text:…>},
 * {@code <newline>}, {@code <reset>}. Other tags are shown as they are.
 */
public final class Markup {
    /**
     * A piece of text in one style.
     *
     * @param color a name such as {@code gold}, or {@code #rrggbb}; null for the default
     * @param decorations such as {@code bold}
     * @param click action and value, such as {@code run_command:/lobby}; null for none
     * @param hover text in MiniMessage; null for none
     */
    public record Span(String text, String color, Set<String> decorations, String click, String hover) {}

    private static final Set<String> COLORS = Set.of("black", "dark_blue", "dark_green", "dark_aqua", "dark_red", "dark_purple",
            "gold", "gray", "dark_gray", "blue", "green", "aqua", "red", "light_purple", "yellow", "white");
    private static final Map<String, String> ALIASES = Map.of("grey", "gray", "dark_grey", "dark_gray", "b", "bold", "i", "italic",
            "em", "italic", "u", "underlined", "st", "strikethrough", "obf", "obfuscated");
    private static final Set<String> DECORATIONS = Set.of("bold", "italic", "underlined", "strikethrough", "obfuscated");

    private record Open(String tag, Span style) {}

    private final String source;
    private final List<Span> spans = new ArrayList<>();
    private final Deque<Open> open = new ArrayDeque<>();
    private final StringBuilder text = new StringBuilder();
    private Span style = new Span("", null, Set.of(), null, null);

    private Markup(String source) {
        this.source = source;
    }

    /** Text that is shown as it is. Section signs are removed, because MiniMessage refuses them. */
    public static String escape(String text) {
        return text.replace("\u00a7", "").replace("\\", "\\\\").replace("<", "\\<");
    }

    /** The pieces of a text. */
    public static List<Span> parse(String source) {
        return new Markup(source).spans();
    }

    /** A text without its markup, for logs. */
    public static String plain(String source) {
        StringBuilder plain = new StringBuilder();
        for (Span span : parse(source)) plain.append(span.text);
        return plain.toString();
    }

    private List<Span> spans() {
        int at = 0;
        while (at < source.length()) {
            char letter = source.charAt(at);
            if (letter == '\\' && at + 1 < source.length() && "\\<".indexOf(source.charAt(at + 1)) >= 0) {
                text.append(source.charAt(at + 1));
                at += 2;
                continue;
            }
            int end = letter == '<' ? endOfTag(at) : -1;
            if (end < 0 || !apply(source.substring(at + 1, end))) {
                text.append(letter);
                at++;
            } else {
                at = end + 1;
            }
        }
        flush();
        return spans;
    }

    /** Index of the tag's {@code >}; arguments in quotes may contain one. */
    private int endOfTag(int start) {
        char quote = 0;
        for (int i = start + 1; i < source.length(); i++) {
            char letter = source.charAt(i);
            if (letter == '\\') {
                i++;
            } else if (quote != 0) {
                if (letter == quote) quote = 0;
            } else if ((letter == '\'' || letter == '"') && source.charAt(i - 1) == ':') {
                quote = letter;
            } else if (letter == '>') {
                return i;
            }
        }
        return -1;
    }

    private boolean apply(String tag) {
        if (tag.startsWith("/")) return close(name(tag.substring(1)));
        String name = name(tag);
        switch (name) {
            case "newline", "br" -> text.append('\n');
            case "reset" -> {
                flush();
                open.clear();
                style = new Span("", null, Set.of(), null, null);
            }
            default -> {
                Span next = styled(name, tag);
                if (next == null) return false;
                flush();
                open.push(new Open(name, style));
                style = next;
            }
        }
        return true;
    }

    private Span styled(String name, String tag) {
        String[] parts = tag.split(":", 3);
        if (COLORS.contains(name) || name.matches("#[0-9a-f]{6}")) {
            return new Span("", name, style.decorations, style.click, style.hover);
        }
        if (DECORATIONS.contains(name)) {
            Set<String> decorations = new java.util.TreeSet<>(style.decorations);
            decorations.add(name);
            return new Span("", style.color, Set.copyOf(decorations), style.click, style.hover);
        }
        if (name.equals("click") && parts.length == 3) {
            return new Span("", style.color, style.decorations, parts[1] + ":" + unquote(parts[2]), style.hover);
        }
        if (name.equals("hover") && parts.length == 3 && parts[1].equals("show_text")) {
            return new Span("", style.color, style.decorations, style.click, unquote(parts[2]));
        }
        return null;
    }

    private boolean close(String name) {
        if (open.stream().noneMatch(each -> each.tag.equals(name))) return false;
        flush();
        Open closed;
        do {
            closed = open.pop();
        } while (!closed.tag.equals(name));
        style = closed.style;
        return true;
    }

    private void flush() {
        if (text.length() == 0) return;
        spans.add(new Span(text.toString(), style.color, style.decorations, style.click, style.hover));
        text.setLength(0);
    }

    private static String name(String tag) {
        int colon = tag.indexOf(':');
        String name = (colon < 0 ? tag : tag.substring(0, colon)).toLowerCase(Locale.ROOT);
        return ALIASES.getOrDefault(name, name);
    }

    private static String unquote(String argument) {
        if (argument.length() < 2) return argument;
        char quote = argument.charAt(0);
        if (quote != '\'' && quote != '"' || argument.charAt(argument.length() - 1) != quote) return argument;
        return argument.substring(1, argument.length() - 1).replace("\\" + quote, String.valueOf(quote)).replace("\\\\", "\\");
    }
}
