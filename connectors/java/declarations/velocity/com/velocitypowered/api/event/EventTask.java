// Compile-only declaration of a part of Velocity's API, written for this project; never in a jar.
package com.velocitypowered.api.event;

import java.util.concurrent.CompletableFuture;

public interface EventTask {
    void execute(Continuation continuation);

    static EventTask resumeWhenComplete(CompletableFuture<?> future) {
        return continuation -> future.whenComplete((answer, failure) -> {
            if (failure == null) {
                continuation.resume();
            } else {
                continuation.resumeWithException(failure);
            }
        });
    }
}
