// Compile-only declaration of a part of Paper's API, written for this project; never in a jar.
package org.bukkit.permissions;

public enum PermissionDefault { TRUE, FALSE, OP, NOT_OP }
