package networkhub.plugin;

/**
 * A line of the self-test.
 *
 * @param subject noun that the line is about
 * @param detail state, and what to do about it
 */
public record Finding(Level level, String subject, String detail) {
    /** Weight of a finding. */
    public enum Level {
        /** All is well. */
        OK("<green>ok</green>"),
        /** Worth knowing. */
        NOTE("<yellow>note</yellow>"),
        /** Something does not work. */
        PROBLEM("<red>problem</red>");

        private final String mark;

        Level(String mark) {
            this.mark = mark;
        }

        String mark() {
            return mark;
        }
    }

    /** A finding that all is well. */
    public static Finding ok(String subject, String detail) {
        return new Finding(Level.OK, subject, detail);
    }

    /** A finding that is worth knowing. */
    public static Finding note(String subject, String detail) {
        return new Finding(Level.NOTE, subject, detail);
    }

    /** A finding that something does not work. */
    public static Finding problem(String subject, String detail) {
        return new Finding(Level.PROBLEM, subject, detail);
    }
}
