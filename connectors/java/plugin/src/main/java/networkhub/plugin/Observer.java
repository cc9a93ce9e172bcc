package networkhub.plugin;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Differences between what the server did and what the hub would have answered, in {@code mode=observe}. Thread-safe. */
public final class Observer {
    /** Kinds of differences. */
    public enum Difference {
        /** The server let a player in whom the hub would have refused. */
        HUB_REFUSES("logins that only the hub would refuse"),
        /** The server refused a player whom the hub would have let in. */
        SERVER_REFUSES("logins that only the server refused"),
        /** The server allows what the hub does not. */
        HUB_DENIES("permissions that only the server allows"),
        /** The hub allows what the server does not. */
        HUB_ALLOWS("permissions that only the hub allows"),
        /** The hub would have removed a player. */
        HUB_KICKS("players that the hub would have removed"),
        /** The money plugin has another amount than the hub. */
        MONEY("players with another balance at the hub"),
        /** A player whom the hub has muted could chat. */
        HUB_MUTES("lines of chat of players whom only the hub has muted");

        private final String title;

        Difference(String title) {
            this.title = title;
        }
    }

    private static final int MAX_EXAMPLES = 50;

    private final Map<Difference, Integer> counts = new EnumMap<>(Difference.class);
    private final Map<Difference, Set<String>> examples = new EnumMap<>(Difference.class);
    private int answers;

    /** Counts an answer that was compared. */
    synchronized void compared(int number) {
        answers += number;
    }

    /** Counts a difference. */
    synchronized void differs(Difference difference, String example) {
        counts.merge(difference, 1, Integer::sum);
        Set<String> known = examples.computeIfAbsent(difference, key -> new LinkedHashSet<>());
        if (known.size() < MAX_EXAMPLES) known.add(example);
    }

    /** The lines of the report so far. */
    synchronized List<String> report() {
        List<String> lines = new ArrayList<>();
        int differences = counts.values().stream().mapToInt(Integer::intValue).sum();
        lines.add(answers + " answers compared, " + differences + " differences");
        counts.forEach((difference, count) -> {
            lines.add(count + " " + difference.title + ":");
            examples.get(difference).forEach(example -> lines.add("  " + example));
        });
        return lines;
    }

    /** Appends the report to a file and begins the next one. */
    synchronized List<String> close(Path file) throws IOException {
        List<String> lines = report();
        List<String> written = new ArrayList<>(lines);
        written.add(0, "== " + LocalDate.now(ZoneOffset.UTC));
        Files.write(file, written, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        counts.clear();
        examples.clear();
        answers = 0;
        return lines;
    }
}
