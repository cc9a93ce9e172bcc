// Compile-only declaration of a part of Velocity's API, written for this project; never in a jar.
package com.velocitypowered.api.event;

import java.util.Optional;
import net.kyori.adventure.text.Component;

public interface ResultedEvent<R extends ResultedEvent.Result> {
    R getResult();

    void setResult(R result);

    interface Result {
        boolean isAllowed();
    }

    final class ComponentResult implements Result {
        private final Component reason;

        private ComponentResult(Component reason) {
            this.reason = reason;
        }

        public static ComponentResult denied(Component reason) {
            return new ComponentResult(reason);
        }

        public static ComponentResult allowed() {
            return new ComponentResult(null);
        }

        @Override
        public boolean isAllowed() {
            return reason == null;
        }

        public Optional<Component> getReasonComponent() {
            return Optional.ofNullable(reason);
        }
    }
}
