// Compile-only declaration of a part of Paper's API, written for this project; never in a jar.
package org.bukkit.inventory;

import java.nio.charset.StandardCharsets;
import org.bukkit.Material;

public class ItemStack {
    private final Material type;
    private final int amount;

    public ItemStack(Material type, int amount) {
        this.type = type;
        this.amount = amount;
    }

    public Material getType() {
        return type;
    }

    public int getAmount() {
        return amount;
    }

    public byte[] serializeAsBytes() {
        if (type.isAir()) throw new IllegalArgumentException("air");
        return (type + " " + amount).getBytes(StandardCharsets.UTF_8);
    }

    /** Fails for items of a newer version, as the server does. */
    public static ItemStack deserializeBytes(byte[] bytes) {
        String[] words = new String(bytes, StandardCharsets.UTF_8).split(" ");
        return new ItemStack(Material.valueOf(words[0]), Integer.parseInt(words[1]));
    }
}
