package networkhub;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SseParserTest {
    private static final String STREAM = ": open\nretry: 2500\nid: e-1\n\n"
            + "event: CHAT\nid: e-2\ndata: {\"message\":\"grüß\ndata: dich\"}\n\n"
            + "event: PING\r\ndata: {}\r\n\r\nunfinished";

    @Test
    void framesAreTheSameHoweverTheBytesAreCut() {
        byte[] bytes = STREAM.getBytes(StandardCharsets.UTF_8);
        for (int size = 1; size <= bytes.length; size++) {
            SseParser parser = new SseParser();
            List<SseParser.Frame> frames = new ArrayList<>();
            for (int from = 0; from < bytes.length; from += size) {
                frames.addAll(parser.feed(ByteBuffer.wrap(bytes, from, Math.min(size, bytes.length - from))));
            }
            assertEquals(List.of(
                    new SseParser.Frame(null, null, "e-1"),
                    new SseParser.Frame("CHAT", "{\"message\":\"grüß\ndich\"}", "e-2"),
                    new SseParser.Frame("PING", "{}", "e-2")), frames);
            assertEquals(2500, parser.retryMs());
        }
    }
}
