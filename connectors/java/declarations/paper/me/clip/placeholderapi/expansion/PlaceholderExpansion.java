// Compile-only declaration of a part of PlaceholderAPI's API, written for this project; never in a jar.
package me.clip.placeholderapi.expansion;

import java.util.ArrayList;
import java.util.List;
import me.clip.placeholderapi.PlaceholderHook;

public abstract class PlaceholderExpansion extends PlaceholderHook {
    /** For tests: what was registered. */
    public static final List<PlaceholderExpansion> REGISTERED = new ArrayList<>();

    public abstract String getIdentifier();

    public abstract String getAuthor();

    public abstract String getVersion();

    public boolean persist() {
        return false;
    }

    public boolean register() {
        return REGISTERED.add(this);
    }
}
