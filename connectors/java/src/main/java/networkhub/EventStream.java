package networkhub;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/**
 * One event stream that reconnects by itself. It resumes after the last event that the listener has handled; where the hub no longer
 * can, the listener gets {@code RESYNC} first and has to read again what it keeps.
 *
 * <p>A stream that stays silent for 40 s (the hub pings every 15 s) is taken for dead and opened again. The listener is called on
 * the executor's thread alone. While it works no more is read: a listener that takes long does not fill the memory.
 */
public final class EventStream implements AutoCloseable {
    /** Listener of a stream. Called on the executor's thread. */
    public interface Listener {
        /** An event, RESYNC and PING included. */
        void onEvent(HubEvent event);

        /** The stream is open. */
        default void onOpen() {}

        /** The stream ended or could not be opened; it will be tried again. */
        default void onDisconnected(HubException why) {}
    }

    private static final System.Logger LOG = System.getLogger("networkhub");
    private static final Duration SILENCE = Duration.ofSeconds(40);
    private static final Duration OPENING = Duration.ofSeconds(10);
    private static final RetryPolicy DELAYS = new RetryPolicy(1, Duration.ofMillis(500), Duration.ofSeconds(10));

    private final Transport transport;
    private final ScheduledExecutorService executor;
    private final Listener listener;
    private final String serverId;
    private final Duration silence;
    private Collection<String> types;

    // All of these belong to the executor's thread.
    private Connection current;
    private String lastEventId;
    private long retryMs = -1;
    private int failures;
    private boolean closed;
    private ScheduledFuture<?> watchdog;

    EventStream(Transport transport, String serverId, Collection<String> types, ScheduledExecutorService executor,
            Listener listener) {
        this(transport, serverId, types, executor, listener, SILENCE);
    }

    EventStream(Transport transport, String serverId, Collection<String> types, ScheduledExecutorService executor,
            Listener listener, Duration silence) {
        this.transport = transport;
        this.silence = silence;
        this.serverId = serverId;
        this.types = List.copyOf(types);
        this.executor = executor;
        this.listener = listener;
    }

    /** Opens the stream, and keeps it open. */
    public void open() {
        run(() -> {
            if (closed || watchdog != null) return;
            watchdog = executor.scheduleWithFixedDelay(this::checkSilence, 1, 1, TimeUnit.SECONDS);
            connect();
        });
    }

    /** Closes the stream for good. */
    @Override
    public void close() {
        run(() -> {
            closed = true;
            if (watchdog != null) watchdog.cancel(false);
            if (current != null) current.cancel();
            current = null;
        });
    }

    /** Changes the events to carry, from the next connection on. Call it on the executor's thread. */
    public void setTypes(Collection<String> types) {
        this.types = List.copyOf(types);
    }

    private void run(Runnable task) {
        try {
            executor.execute(task);
        } catch (RejectedExecutionException stopped) {
            LOG.log(System.Logger.Level.DEBUG, "the executor of the event stream has stopped");
        }
    }

    private void connect() {
        if (closed) return;
        current = new Connection();
        current.start();
    }

    private void checkSilence() {
        if (current == null) return;
        Duration silent = Duration.ofNanos(System.nanoTime() - current.lastActivity);
        if (silent.compareTo(current.isOpen ? silence : OPENING) > 0) {
            current.end(Transport.unreachable(new IOException("nothing came for " + silent.toSeconds() + " s")));
        }
    }

    /** One attempt, from its request to its end. */
    private final class Connection implements Flow.Subscriber<List<ByteBuffer>> {
        private final SseParser parser = new SseParser();
        private CompletableFuture<HttpResponse<Body>> response;
        private Flow.Subscription subscription;
        private long lastActivity = System.nanoTime();
        private boolean isOpen;

        /** Body of an answer: a stream, or the text of an error. */
        private record Body(Flow.Publisher<List<ByteBuffer>> stream, String error) {}

        void start() {
            Call call = Call.get("events")
                    .query("serverId", serverId)
                    .query("types", types.isEmpty() ? null : String.join(",", types));
            HttpRequest.Builder request = transport.request(call.target()).header("Accept", "text/event-stream");
            if (lastEventId != null) request.header("Last-Event-ID", lastEventId);
            response = transport.http().sendAsync(request.build(), info -> info.statusCode() == 200
                    ? HttpResponse.BodySubscribers.mapping(
                            HttpResponse.BodySubscribers.ofPublisher(), stream -> new Body(stream, null))
                    : HttpResponse.BodySubscribers.mapping(
                            HttpResponse.BodySubscribers.ofString(StandardCharsets.UTF_8), text -> new Body(null, text)));
            response.whenComplete((answer, failure) -> run(() -> answered(answer, failure)));
        }

        private void answered(HttpResponse<Body> answer, Throwable failure) {
            if (failure != null) {
                end(Transport.unreachable(failure));
            } else if (answer.body().stream == null) {
                end(error(answer));
            } else {
                answer.body().stream.subscribe(this);
            }
        }

        private HubException error(HttpResponse<Body> answer) {
            JsonObject body = Json.object(answer.body().error);
            String code = Json.text(body, "code");
            String message = Json.text(body, "error");
            return new HubException(answer.statusCode(), code == null ? "http_" + answer.statusCode() : code,
                    message == null ? "The event stream was answered with " + answer.statusCode() + "." : message,
                    Json.text(body, "requestId"), null, body, null);
        }

        @Override
        public void onSubscribe(Flow.Subscription subscription) {
            run(() -> {
                this.subscription = subscription;
                if (current != this) {
                    subscription.cancel();
                    return;
                }
                lastActivity = System.nanoTime();
                isOpen = true;
                failures = 0;
                guard(listener::onOpen);
                subscription.request(1);
            });
        }

        @Override
        public void onNext(List<ByteBuffer> buffers) {
            run(() -> {
                for (ByteBuffer bytes : buffers) {
                    for (SseParser.Frame frame : parser.feed(bytes)) {
                        if (current == this) handle(frame);
                    }
                }
                lastActivity = System.nanoTime();
                subscription.request(1);
            });
        }

        @Override
        public void onError(Throwable failure) {
            run(() -> end(Transport.unreachable(failure)));
        }

        @Override
        public void onComplete() {
            run(() -> end(Transport.unreachable(new IOException("the hub ended the event stream"))));
        }

        private void handle(SseParser.Frame frame) {
            if (frame.data() != null) {
                JsonObject data = Json.object(frame.data());
                JsonElement at = data.get("at");
                String type = frame.event() == null ? Json.text(data, "type") : frame.event();
                HubEvent event = new HubEvent(type, at == null ? 0 : at.getAsLong(), data);
                guard(() -> listener.onEvent(event));
            }
            // After the listener: what it has not handled comes again.
            if (frame.id() != null) lastEventId = frame.id();
            if (parser.retryMs() >= 0) retryMs = parser.retryMs();
        }

        private void guard(Runnable callback) {
            try {
                callback.run();
            } catch (RuntimeException failure) {
                LOG.log(System.Logger.Level.WARNING, "A listener of the event stream failed", failure);
            }
        }

        void cancel() {
            response.cancel(true);
            if (subscription != null) subscription.cancel();
        }

        void end(HubException why) {
            if (current != this) return;
            cancel();
            current = null;
            failures++;
            guard(() -> listener.onDisconnected(why));
            long delay = DELAYS.delay(failures).toMillis();
            // A stream that was open ended with many others: the hub has said how to spread out.
            if (isOpen && retryMs >= 0) delay = retryMs;
            executor.schedule(EventStream.this::connect, delay, TimeUnit.MILLISECONDS);
        }
    }
}
