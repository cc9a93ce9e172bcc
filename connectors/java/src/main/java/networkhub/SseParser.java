package networkhub;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Reads server-sent events from bytes, however they are cut. */
final class SseParser {
    /**
     * A frame.
     *
     * @param event its name; null where it has none
     * @param data its data; null where it has none
     * @param id the id to resume from, of this frame or an earlier one; null where there was none yet
     */
    record Frame(String event, String data, String id) {}

    private final ByteArrayOutputStream line = new ByteArrayOutputStream();
    private boolean afterReturn;
    private String event;
    private StringBuilder data;
    private String id;
    private long retryMs = -1;

    /** Wait that the hub asks for before reconnecting, in milliseconds; -1 if unknown. */
    long retryMs() {
        return retryMs;
    }

    /** The frames that end in these bytes. */
    List<Frame> feed(ByteBuffer bytes) {
        List<Frame> frames = new ArrayList<>();
        while (bytes.hasRemaining()) {
            byte next = bytes.get();
            // A line ends with \n, \r or \r\n.
            if (next == '\n' && afterReturn) {
                afterReturn = false;
            } else if (next == '\n' || next == '\r') {
                afterReturn = next == '\r';
                endLine(frames);
            } else {
                afterReturn = false;
                line.write(next);
            }
        }
        return frames;
    }

    private void endLine(List<Frame> frames) {
        String text = line.toString(StandardCharsets.UTF_8);
        line.reset();
        if (text.isEmpty()) {
            if (event != null || data != null || id != null) {
                frames.add(new Frame(event, data == null ? null : data.toString(), id));
            }
            event = null;
            data = null;
            return;
        }
        int colon = text.indexOf(':');
        String field = colon < 0 ? text : text.substring(0, colon);
        String value = colon < 0 ? "" : text.substring(colon + 1);
        if (value.startsWith(" ")) value = value.substring(1);
        switch (field) {
            case "event" -> event = value;
            case "data" -> data = data == null ? new StringBuilder(value) : data.append('\n').append(value);
            case "id" -> id = value;
            case "retry" -> {
                if (value.matches("\\d{1,9}")) retryMs = Long.parseLong(value);
            }
            default -> { } // A comment, or a field of the future.
        }
    }
}
