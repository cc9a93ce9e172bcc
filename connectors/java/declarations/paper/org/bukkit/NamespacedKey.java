// Compile-only declaration of a part of Paper's API, written for this project; never in a jar.
package org.bukkit;

public final class NamespacedKey {
    private final String text;

    private NamespacedKey(String text) {
        this.text = text;
    }

    public static NamespacedKey fromString(String text) {
        return new NamespacedKey(text);
    }

    @Override
    public String toString() {
        return text;
    }
}
