// Compile-only declaration of a part of Paper's API, written for this project; never in a jar.
package org.bukkit.permissions;

import java.util.LinkedHashMap;
import java.util.Map;

public class PermissionAttachment {
    private final Map<String, Boolean> permissions = new LinkedHashMap<>();
    private boolean isRemoved;

    public Map<String, Boolean> getPermissions() {
        return isRemoved ? Map.of() : permissions;
    }

    public void setPermission(String name, boolean value) {
        permissions.put(name, value);
    }

    public boolean remove() {
        isRemoved = true;
        return true;
    }
}
