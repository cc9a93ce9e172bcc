// Compile-only declaration of a part of Paper's API, written for this project; never in a jar.
package org.bukkit;

public enum Statistic {
    JUMP(Type.UNTYPED), MINE_BLOCK(Type.BLOCK), USE_ITEM(Type.ITEM), KILL_ENTITY(Type.ENTITY);

    public enum Type { UNTYPED, ITEM, BLOCK, ENTITY }

    private final Type type;

    Statistic(Type type) {
        this.type = type;
    }

    public Type getType() {
        return type;
    }
}
