package networkhub.model;

import java.util.List;
import java.util.UUID;

/**
 * A player's statistics in a game mode.
 *
 * @param playerUuid the player
 * @param gameMode the game mode
 * @param statistics one for each name and period
 */
public record PlayerStatistics(
        UUID playerUuid, String gameMode, List<StatisticValue> statistics) {}
