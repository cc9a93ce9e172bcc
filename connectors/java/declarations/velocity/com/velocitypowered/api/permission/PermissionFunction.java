// Compile-only declaration of a part of Velocity's API, written for this project; never in a jar.
package com.velocitypowered.api.permission;

public interface PermissionFunction {
    Tristate getPermissionValue(String node);
}
