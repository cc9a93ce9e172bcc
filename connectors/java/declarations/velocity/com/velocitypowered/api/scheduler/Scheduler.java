// Compile-only declaration of a part of Velocity's API, written for this project; never in a jar.
package com.velocitypowered.api.scheduler;

public interface Scheduler {
    TaskBuilder buildTask(Object plugin, Runnable task);

    interface TaskBuilder {
        ScheduledTask schedule();
    }
}
