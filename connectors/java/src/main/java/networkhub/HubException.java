package networkhub;

import com.google.gson.JsonObject;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;

/**
 * Failure of a call. Futures complete with it; {@link #of} unwraps what they throw.
 *
 * <p>{@link #code()} is stable and meant for programs, the message for people. Codes are those of the hub
 * ({@code insufficient_funds}, {@code version_conflict}, …) and two of this library: {@code unreachable} (no answer: the
 * request may or may not have been carried out) and {@code invalid_answer} (an answer that is not the hub's).
 */
public final class HubException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** No answer came; the request may or may not have been carried out. */
    public static final String UNREACHABLE = "unreachable";

    private final int status;
    private final String code;
    private final String requestId;
    private final Duration retryAfter;
    private final transient JsonObject details;

    HubException(int status, String code, String message, String requestId, Duration retryAfter, JsonObject details,
            Throwable cause) {
        super(message, cause);
        this.status = status;
        this.code = code;
        this.requestId = requestId;
        this.retryAfter = retryAfter;
        this.details = details;
    }

    /** An error that this library found itself, with a code and a sentence for a person. */
    public HubException(String code, String message) {
        this(0, code, message, null, null, new JsonObject(), null);
    }

    /** Returns a future's failure as a {@code HubException}. */
    public static HubException of(Throwable failure) {
        Throwable cause = failure;
        while ((cause instanceof CompletionException || cause instanceof ExecutionException) && cause.getCause() != null) {
            cause = cause.getCause();
        }
        if (cause instanceof HubException known) return known;
        if (cause instanceof TimeoutException) {
            return new HubException(0, UNREACHABLE, "The hub did not answer in time.", null, null, new JsonObject(), cause);
        }
        String message = cause.getMessage() == null ? cause.toString() : cause.getMessage();
        return new HubException(0, "client_error", message, null, null, new JsonObject(), cause);
    }

    /** The HTTP status; 0 where there was no answer. */
    public int status() {
        return status;
    }

    /** The stable code. */
    public String code() {
        return code;
    }

    /** The request's id in the hub's log, to be quoted in reports; empty where there was no answer. */
    public Optional<String> requestId() {
        return Optional.ofNullable(requestId);
    }

    /** Wait that the hub asks for before the next attempt. */
    public Optional<Duration> retryAfter() {
        return Optional.ofNullable(retryAfter);
    }

    /** The error's further fields, such as {@code limit}, {@code value} and {@code used} of {@code quota_exceeded}. */
    public JsonObject details() {
        return details == null ? new JsonObject() : details;
    }

    /** True if the error has this code. */
    public boolean is(String code) {
        return this.code.equals(code);
    }

    /** True if a later attempt may succeed: no answer, a hub that is stopping or overloaded, or a rate limit. */
    public boolean isTransient() {
        return is(UNREACHABLE) || status == 429 || status == 502 || status == 503 || status == 504;
    }
}
