package networkhub.plugin;

import java.util.Locale;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Durations as people write them: {@code 30m}, {@code 1d12h}, {@code 2w}. */
final class Durations {
    private static final Pattern WHOLE = Pattern.compile("(\\d{1,6}(mo|[smhdwy]))+");
    private static final Pattern PART = Pattern.compile("(\\d{1,6})(mo|[smhdwy])");
    private static final String[] UNITS = {"y", "mo", "w", "d", "h", "m", "s"};
    private static final long[] SECONDS = {31_536_000, 2_592_000, 604_800, 86_400, 3_600, 60, 1};

    private Durations() {}

    /** Milliseconds; empty for what is no duration. */
    static OptionalLong parse(String text) {
        String lower = text.toLowerCase(Locale.ROOT);
        if (!WHOLE.matcher(lower).matches()) return OptionalLong.empty();
        long seconds = 0;
        Matcher part = PART.matcher(lower);
        while (part.find()) seconds += Long.parseLong(part.group(1)) * seconds(part.group(2));
        return seconds == 0 ? OptionalLong.empty() : OptionalLong.of(seconds * 1_000);
    }

    /** The two largest parts of a duration. */
    static String format(long ms) {
        long left = Math.max(1, ms / 1_000);
        StringBuilder text = new StringBuilder();
        int parts = 0;
        for (int i = 0; i < UNITS.length && parts < 2; i++) {
            long count = left / SECONDS[i];
            if (count == 0) continue;
            text.append(count).append(UNITS[i]);
            left -= count * SECONDS[i];
            parts++;
        }
        return text.toString();
    }

    private static long seconds(String unit) {
        for (int i = 0; i < UNITS.length; i++) {
            if (UNITS[i].equals(unit)) return SECONDS[i];
        }
        throw new IllegalArgumentException(unit);
    }
}
