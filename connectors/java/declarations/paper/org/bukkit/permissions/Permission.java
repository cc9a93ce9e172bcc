// Compile-only declaration of a part of Paper's API, written for this project; never in a jar.
package org.bukkit.permissions;

import java.util.LinkedHashMap;
import java.util.Map;

public class Permission {
    private final String name;
    private final Map<String, Boolean> children = new LinkedHashMap<>();

    public Permission(String name, PermissionDefault defaultValue, Map<String, Boolean> children) {
        this.name = name;
        this.children.putAll(children);
    }

    public String getName() {
        return name;
    }

    public Map<String, Boolean> getChildren() {
        return children;
    }

    public void recalculatePermissibles() {}
}
