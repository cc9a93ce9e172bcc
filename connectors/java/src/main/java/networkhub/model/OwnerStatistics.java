package networkhub.model;

import java.util.List;

/**
 * An owner's statistics in a game mode.
 *
 * @param ownerType the kind of owner, such as {@code player} or {@code farm}
 * @param ownerKey which one
 * @param gameMode the game mode
 * @param statistics one for each name and period
 */
public record OwnerStatistics(
        String ownerType, String ownerKey, String gameMode, List<StatisticValue> statistics) {}
