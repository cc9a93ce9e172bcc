package networkhub;

import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.reflect.TypeToken;
import java.io.IOException;
import java.lang.reflect.Type;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

/** Sends calls, repeats those that may be, and reads the answers. */
final class Transport {
    private final HttpClient http;
    private final URI base;
    private final String apiKey;
    private final Duration timeout;
    private final RetryPolicy retry;

    Transport(HttpClient http, URI base, String apiKey, Duration timeout, RetryPolicy retry) {
        this.http = http;
        this.base = base;
        this.apiKey = apiKey;
        this.timeout = timeout;
        this.retry = retry;
    }

    Transport with(RetryPolicy other) {
        return new Transport(http, base, apiKey, timeout, other);
    }

    Transport with(Duration other) {
        return new Transport(http, base, apiKey, other, retry);
    }

    HttpClient http() {
        return http;
    }

    /** A request with the key, without a time limit. */
    HttpRequest.Builder request(String target) {
        String prefix = base.toString().replaceAll("/+$", "");
        return HttpRequest.newBuilder(URI.create(prefix + target)).header("X-Service-Api-Key", apiKey);
    }

    /** Answers what was read as this type; null for an answer without a body. */
    <T> CompletableFuture<T> send(Call call, Class<T> type) {
        return exchange(call).thenApply(response -> read(response, type));
    }

    <T> CompletableFuture<List<T>> list(Call call, Class<T> item) {
        Type type = TypeToken.getParameterized(List.class, item).getType();
        return exchange(call).thenApply(response -> read(response, type));
    }

    /** For calls that answer nothing. */
    CompletableFuture<Void> run(Call call) {
        return exchange(call).thenApply(response -> null);
    }

    /** The answer to a call that the hub accepted; else it fails with a {@link HubException}. */
    CompletableFuture<HttpResponse<String>> exchange(Call call) {
        HttpRequest.BodyPublisher body = call.body == null
                ? HttpRequest.BodyPublishers.noBody()
                : HttpRequest.BodyPublishers.ofString(call.body.toString());
        HttpRequest.Builder request = request(call.target()).method(call.method, body);
        if (call.body != null) request.header("Content-Type", "application/json");
        if (call.repeat == Call.Repeat.KEYED && !call.headers.containsKey("Idempotency-Key")) {
            request.header("Idempotency-Key", UUID.randomUUID().toString());
        }
        call.headers.forEach(request::header);
        return attempt(call, request.build(), 1);
    }

    private CompletableFuture<HttpResponse<String>> attempt(Call call, HttpRequest request, int attempt) {
        return sendInTime(request)
                .handle((response, failure) -> {
                    HubException error = failure == null ? error(response) : unreachable(failure);
                    if (error == null) return CompletableFuture.completedFuture(response);
                    Duration delay = error.retryAfter().orElseGet(() -> retry.delay(attempt));
                    boolean again = attempt < retry.attempts() && mayRepeat(call, error)
                            && delay.compareTo(retry.maxDelay()) <= 0;
                    if (!again) return CompletableFuture.<HttpResponse<String>>failedFuture(error);
                    return CompletableFuture
                            .supplyAsync(() -> request, CompletableFuture.delayedExecutor(delay.toMillis(), TimeUnit.MILLISECONDS))
                            .thenCompose(same -> attempt(call, same, attempt + 1));
                })
                .thenCompose(next -> next);
    }

    /** The time limit that a request can be given ends with the head of its answer; this one ends with the body. */
    private CompletableFuture<HttpResponse<String>> sendInTime(HttpRequest request) {
        CompletableFuture<HttpResponse<String>> sent = http.sendAsync(request, HttpResponse.BodyHandlers.ofString());
        CompletableFuture<HttpResponse<String>> inTime = sent.copy().orTimeout(timeout.toMillis(), TimeUnit.MILLISECONDS);
        // Ends what is still under way.
        inTime.whenComplete((response, failure) -> sent.cancel(true));
        return inTime;
    }

    /** Any call may be repeated that surely was not carried out; another one only if a second time has no second effect. */
    private static boolean mayRepeat(Call call, HubException error) {
        if (!error.isTransient()) return false;
        boolean neverSent = error.getCause() instanceof ConnectException
                || error.getCause() instanceof HttpConnectTimeoutException;
        return neverSent || error.status() == 429 || call.repeat != Call.Repeat.NEVER;
    }

    static HubException unreachable(Throwable failure) {
        Throwable cause = failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        if (!(cause instanceof IOException)) return HubException.of(cause);
        String detail = cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
        return new HubException(0, HubException.UNREACHABLE, "The hub does not answer: " + detail, null, null,
                new JsonObject(), cause);
    }

    /** The error of an answer; null for one that is none. */
    static HubException error(HttpResponse<String> response) {
        int status = response.statusCode();
        if (status < 300 || status == 304) return null;
        JsonObject body = Json.object(response.body());
        String code = Json.text(body, "code");
        String message = Json.text(body, "error");
        // A gateway in front of the hub answers in a way of its own.
        if (code == null) code = status >= 500 || status == 429 ? "http_" + status : "invalid_answer";
        if (message == null) message = "The hub's address answered " + status + " without saying why.";
        Duration retryAfter = response.headers().firstValue("Retry-After").map(Transport::seconds).orElse(null);
        String requestId = response.headers().firstValue("X-Request-Id").orElse(Json.text(body, "requestId"));
        return new HubException(status, code, message, requestId, retryAfter, body, null);
    }

    private static Duration seconds(String text) {
        try {
            return Duration.ofSeconds(Math.max(0, Long.parseLong(text.trim())));
        } catch (NumberFormatException date) {
            return null;
        }
    }

    static <T> T read(HttpResponse<String> response, Type type) {
        if (response.body() == null || response.body().isEmpty()) return null;
        try {
            return Json.GSON.fromJson(response.body(), type);
        } catch (JsonParseException | ClassCastException malformed) {
            String requestId = response.headers().firstValue("X-Request-Id").orElse(null);
            throw new HubException(response.statusCode(), "invalid_answer", "The hub's answer can't be read: "
                    + malformed.getMessage(), requestId, null, new JsonObject(), malformed);
        }
    }
}
