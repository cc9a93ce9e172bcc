// Compile-only declaration of a part of Velocity's API, written for this project; never in a jar.
package com.velocitypowered.api.event.permission;

import com.velocitypowered.api.permission.PermissionProvider;
import com.velocitypowered.api.permission.PermissionSubject;

public final class PermissionsSetupEvent {
    private final PermissionSubject subject;
    private PermissionProvider provider;

    public PermissionsSetupEvent(PermissionSubject subject, PermissionProvider provider) {
        this.subject = subject;
        this.provider = provider;
    }

    public PermissionSubject getSubject() {
        return subject;
    }

    public PermissionProvider getProvider() {
        return provider;
    }

    public void setProvider(PermissionProvider provider) {
        this.provider = provider;
    }
}
