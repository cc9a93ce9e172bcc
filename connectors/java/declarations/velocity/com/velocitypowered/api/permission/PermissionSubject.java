// Compile-only declaration of a part of Velocity's API, written for this project; never in a jar.
package com.velocitypowered.api.permission;

public interface PermissionSubject {
    default boolean hasPermission(String node) {
        return getPermissionValue(node) == Tristate.TRUE;
    }

    Tristate getPermissionValue(String node);
}
