package networkhub;

import com.google.gson.JsonElement;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;

/** A request to the hub, before it is sent. */
final class Call {
    /** Policy for repeating a call that may have been carried out. */
    enum Repeat {
        /** It may be: a second time changes nothing more. */
        SAFE,
        /** It may be, because an {@code Idempotency-Key} makes it so. */
        KEYED,
        /** It may not be. */
        NEVER
    }

    final String method;
    final String path;
    private final List<String> query = new ArrayList<>();
    final Map<String, String> headers = new HashMap<>();
    JsonElement body;
    Repeat repeat = Repeat.SAFE;

    private Call(String method, String path) {
        this.method = method;
        this.path = path;
    }

    /** A request for the path of these segments below `/api/plugin`, each of which is escaped. */
    static Call of(String method, Object... segments) {
        StringJoiner path = new StringJoiner("/", "/api/plugin/", "");
        for (Object segment : segments) path.add(escape(segment));
        return new Call(method, path.toString());
    }

    /** A request for a path that is written out. */
    static Call at(String method, String path) {
        return new Call(method, path);
    }

    static Call get(Object... segments) {
        return of("GET", segments);
    }

    static Call post(Object... segments) {
        return of("POST", segments);
    }

    static Call put(Object... segments) {
        return of("PUT", segments);
    }

    static Call delete(Object... segments) {
        return of("DELETE", segments);
    }

    /** Adds a query parameter, unless it is null. */
    Call query(String name, Object value) {
        if (value != null) query.add(name + "=" + escape(value));
        return this;
    }

    Call header(String name, String value) {
        if (value != null) headers.put(name, value);
        return this;
    }

    /** Sends this as JSON; null fields are left out. */
    Call body(Object value) {
        body = Json.GSON.toJsonTree(value);
        return this;
    }

    /** Sends fields as JSON: names and values in turn. Null values are left out. */
    Call fields(Object... namesAndValues) {
        Map<String, Object> fields = new HashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) fields.put((String) namesAndValues[i], namesAndValues[i + 1]);
        fields.values().removeIf(value -> value == null);
        return body(fields);
    }

    /** Sends it with an {@code Idempotency-Key}, so that repeating it has one effect. */
    Call keyed() {
        repeat = Repeat.KEYED;
        return this;
    }

    Call once() {
        repeat = Repeat.NEVER;
        return this;
    }

    String target() {
        return query.isEmpty() ? path : path + "?" + String.join("&", query);
    }

    private static String escape(Object value) {
        return URLEncoder.encode(value.toString(), StandardCharsets.UTF_8).replace("+", "%20");
    }
}
