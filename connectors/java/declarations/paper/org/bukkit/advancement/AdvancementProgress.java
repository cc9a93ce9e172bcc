// Compile-only declaration of a part of Paper's API, written for this project; never in a jar.
package org.bukkit.advancement;

import java.util.Collection;

public interface AdvancementProgress {
    boolean awardCriteria(String criteria);

    boolean revokeCriteria(String criteria);

    Collection<String> getAwardedCriteria();
}
