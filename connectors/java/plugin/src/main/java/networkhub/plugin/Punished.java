package networkhub.plugin;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.UUID;
import networkhub.model.Punishment;

/** A punishment in words. */
record Punished(Texts texts, UUID reader, Punishment punishment) {
    private static final DateTimeFormatter DATE = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm 'UTC'").withZone(ZoneOffset.UTC);

    /** One of the texts that have a reason and an end. */
    String text(String key) {
        return texts.get(reader, key, "reason", reason(), "until", until(), "appeal", appeal());
    }

    /** The way to appeal; empty where there is none. */
    private Object appeal() {
        String code = punishment.appealCode();
        return new Texts.Part(code == null ? "" : texts.get(reader, "punished.appeal", "code", code));
    }

    Object reason() {
        boolean isGiven = punishment.reason() != null && !punishment.reason().isBlank();
        return isGiven ? punishment.reason() : new Texts.Part(texts.get(reader, "no-reason"));
    }

    Object until() {
        return punishment.expiresAt() == null ? new Texts.Part(texts.get(reader, "never")) : date(punishment.expiresAt());
    }

    Object duration() {
        return punishment.durationMs() == null ? new Texts.Part(texts.get(reader, "never")) : Durations.format(punishment.durationMs());
    }

    static String date(long ms) {
        return DATE.format(Instant.ofEpochMilli(ms));
    }
}
