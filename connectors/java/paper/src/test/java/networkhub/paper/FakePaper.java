package networkhub.paper;

import io.papermc.paper.threadedregions.scheduler.EntityScheduler;
import io.papermc.paper.threadedregions.scheduler.GlobalRegionScheduler;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.lang.reflect.Method;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.logging.Logger;
import java.util.stream.Stream;
import net.kyori.adventure.text.Component;
import net.kyori.adventure.text.serializer.plain.PlainTextComponentSerializer;
import networkhub.paper.platform.PaperPlugin;
import networkhub.testing.Fake;
import org.bukkit.Material;
import org.bukkit.NamespacedKey;
import org.bukkit.Server;
import org.bukkit.Statistic;
import org.bukkit.advancement.Advancement;
import org.bukkit.advancement.AdvancementProgress;
import org.bukkit.command.Command;
import org.bukkit.command.CommandMap;
import org.bukkit.command.CommandSender;
import org.bukkit.entity.EntityType;
import org.bukkit.entity.Player;
import org.bukkit.event.Cancellable;
import org.bukkit.event.Event;
import org.bukkit.event.EventHandler;
import org.bukkit.event.Listener;
import org.bukkit.event.player.AsyncPlayerPreLoginEvent;
import org.bukkit.event.player.PlayerAdvancementDoneEvent;
import org.bukkit.event.player.PlayerJoinEvent;
import org.bukkit.event.player.PlayerQuitEvent;
import org.bukkit.inventory.Inventory;
import org.bukkit.inventory.ItemStack;
import org.bukkit.inventory.PlayerInventory;
import org.bukkit.permissions.Permission;
import org.bukkit.permissions.PermissionAttachment;
import org.bukkit.permissions.PermissionDefault;
import org.bukkit.plugin.Plugin;
import org.bukkit.plugin.PluginManager;
import org.bukkit.plugin.ServicePriority;
import org.bukkit.plugin.ServicesManager;
import org.bukkit.plugin.messaging.Messenger;
import org.bukkit.potion.PotionEffect;
import org.bukkit.potion.PotionEffectType;

/** A Paper or Folia with the plugin, made of the declarations. It fails where a player is touched on a wrong thread. */
final class FakePaper implements AutoCloseable {
    final Map<UUID, FakePlayer> players = new ConcurrentHashMap<>();
    final Map<String, Command> commands = new ConcurrentHashMap<>();
    final Map<String, Permission> permissions = new ConcurrentHashMap<>();
    final List<String> broadcasts = new CopyOnWriteArrayList<>();
    final List<String> wrongThreads = new CopyOnWriteArrayList<>();
    private final Set<Listener> listeners = new CopyOnWriteArraySet<>();
    /** Services that plugins provide, by their interface. */
    final Map<Class<?>, Object> services = new ConcurrentHashMap<>();
    private final Set<String> others;
    private final boolean isFolia;
    private final ExecutorService main = thread("main");
    private final PaperPlugin plugin = new PaperPlugin();

    FakePaper(boolean isFolia, boolean isProxied, String... config) throws Exception {
        this(isFolia, isProxied, Set.of(), config);
    }

    FakePaper(boolean isFolia, boolean isProxied, Set<String> others, String... config) throws Exception {
        this.isFolia = isFolia;
        this.others = others;
        Path root = Files.createTempDirectory("network-hub-paper");
        Path folder = Files.createDirectories(root.resolve("plugins/NetworkHub"));
        Files.write(folder.resolve("config.properties"), List.of(config));
        Files.createDirectories(root.resolve("config"));
        Files.writeString(root.resolve("spigot.yml"), "settings:\n  bungeecord: false\n  other: true\n");
        Files.writeString(root.resolve("config/paper-global.yml"),
                "proxies:\n  bungee-cord:\n    online-mode: true\n  velocity:\n    # comment\n    enabled: " + isProxied + "\n    online-mode: true\n");
        permissions.put("kit.gold", new Permission("kit.gold", PermissionDefault.FALSE, Map.of()));
        permissions.put("kit.iron", new Permission("kit.iron", PermissionDefault.FALSE, Map.of()));
        plugin.init(Fake.of(Server.class, new ServerCalls()), folder.toFile(), Logger.getLogger("paper"));
        plugin.onEnable();
    }

    private static ExecutorService thread(String name) {
        return Executors.newSingleThreadExecutor(task -> {
            Thread made = new Thread(task, name);
            made.setDaemon(true);
            return made;
        });
    }

    /** Fires an event on the caller's thread, in the order of the priorities. */
    void fire(Event event) throws Exception {
        record Handler(Listener listener, Method method) {}
        List<Handler> handlers = new ArrayList<>();
        for (Listener listener : listeners) {
            for (Method method : listener.getClass().getMethods()) {
                boolean isHandler = method.isAnnotationPresent(EventHandler.class) && method.getParameterTypes()[0] == event.getClass();
                if (isHandler) handlers.add(new Handler(listener, method));
            }
        }
        handlers.sort(Comparator.comparing(handler -> handler.method.getAnnotation(EventHandler.class).priority()));
        for (Handler handler : handlers) {
            boolean isIgnored = handler.method.getAnnotation(EventHandler.class).ignoreCancelled()
                    && event instanceof Cancellable cancellable && cancellable.isCancelled();
            if (!isIgnored) handler.method.invoke(handler.listener, event);
        }
    }

    /** Lets a player log in and join; returns the reason why they may not, or null. */
    String join(FakePlayer player) throws Exception {
        AsyncPlayerPreLoginEvent login = new AsyncPlayerPreLoginEvent(player.name, InetAddress.getLoopbackAddress(), player.uuid);
        fire(login);
        if (login.getLoginResult() != AsyncPlayerPreLoginEvent.Result.ALLOWED) return text(login.kickMessage());
        players.put(player.uuid, player);
        player.on(() -> fire(new PlayerJoinEvent(player.api)));
        return null;
    }

    void quit(FakePlayer player) throws Exception {
        player.on(() -> fire(new PlayerQuitEvent(player.api)));
        players.remove(player.uuid);
    }

    /** A player's progress towards an advancement of the game. */
    AdvancementProgress advancements(FakePlayer player) {
        return player.api.getAdvancementProgress(plugin.getServer().advancementIterator().next());
    }

    static String text(Component component) {
        return PlainTextComponentSerializer.plainText().serialize(component);
    }

    @Override
    public void close() {
        plugin.onDisable();
        main.shutdownNow();
        players.values().forEach(player -> player.own.shutdownNow());
    }

    /** A disabled plugin is enabled again, as by a plugin manager. */
    void enableAgain() {
        plugin.onDisable();
        listeners.clear();
        plugin.onEnable();
    }

    /** A task of a test. */
    interface Task {
        void run() throws Exception;
    }

    /** A player, and what they saw. */
    final class FakePlayer {
        final UUID uuid;
        final String name;
        final Player api = Fake.of(Player.class, this);
        final List<String> texts = new CopyOnWriteArrayList<>();
        final List<PermissionAttachment> attachments = new CopyOnWriteArrayList<>();
        volatile String kicked;
        volatile String sentTo;
        volatile int updates;
        private final ExecutorService own;

        final ItemStack[] items = new ItemStack[41];
        final ItemStack[] chest = new ItemStack[27];
        final Map<String, PotionEffect> effects = new ConcurrentHashMap<>();
        volatile ItemStack cursor;
        volatile int held;
        volatile double health = 20;
        volatile int food = 20;
        volatile float saturation = 5;
        volatile float exhaustion;
        volatile int level;
        volatile float progress;
        volatile int total;
        /** By statistic and kind. */
        final Map<String, Integer> statistics = new ConcurrentHashMap<>();
        /** Criteria that were met, by advancement. */
        final Map<String, Set<String>> criteria = new ConcurrentHashMap<>();
        /** Announcements of advancements. */
        final List<String> announced = new CopyOnWriteArrayList<>();

        FakePlayer(String name) {
            this(name, UUID.randomUUID());
        }

        FakePlayer(String name, UUID uuid) {
            this.name = name;
            this.uuid = uuid;
            own = isFolia ? thread("region of " + name) : main;
        }

        void on(Task task) throws Exception {
            own.submit(() -> {
                task.run();
                return null;
            }).get(10, TimeUnit.SECONDS);
        }

        private void check(String what) {
            String expected = isFolia ? "region of " + name : "main";
            if (!Thread.currentThread().getName().equals(expected)) wrongThreads.add(what + " on " + Thread.currentThread().getName());
        }

        UUID getUniqueId() {
            return uuid;
        }

        String getName() {
            return name;
        }

        void sendMessage(Component message) {
            texts.add(text(message));
        }

        void kick(Component message) {
            check("kick");
            kicked = text(message);
        }

        PlayerInventory getInventory() {
            check("getInventory");
            return Fake.of(PlayerInventory.class, new Object() {
                ItemStack[] getContents() {
                    return items.clone();
                }

                void setContents(ItemStack[] contents) {
                    System.arraycopy(contents, 0, items, 0, items.length);
                }

                int getHeldItemSlot() {
                    return held;
                }

                void setHeldItemSlot(int slot) {
                    held = slot;
                }
            });
        }

        Inventory getEnderChest() {
            check("getEnderChest");
            return Fake.of(Inventory.class, new Object() {
                ItemStack[] getContents() {
                    return chest.clone();
                }

                void setContents(ItemStack[] contents) {
                    System.arraycopy(contents, 0, chest, 0, chest.length);
                }
            });
        }

        ItemStack getItemOnCursor() {
            return cursor;
        }

        void closeInventory() {
            check("closeInventory");
            if (cursor == null) return;
            items[java.util.Arrays.asList(items).indexOf(null)] = cursor;
            cursor = null;
        }

        double getHealth() {
            return health;
        }

        void setHealth(double value) {
            check("setHealth");
            if (value < 0 || value > getMaxHealth()) throw new IllegalArgumentException("health");
            health = value;
        }

        double getMaxHealth() {
            return effects.containsKey("minecraft:health_boost") ? 24 : 20;
        }

        int getFoodLevel() {
            return food;
        }

        void setFoodLevel(int value) {
            food = value;
        }

        float getSaturation() {
            return saturation;
        }

        void setSaturation(float value) {
            saturation = value;
        }

        float getExhaustion() {
            return exhaustion;
        }

        void setExhaustion(float value) {
            exhaustion = value;
        }

        int getLevel() {
            return level;
        }

        void setLevel(int value) {
            level = value;
        }

        float getExp() {
            return progress;
        }

        void setExp(float value) {
            progress = value;
        }

        int getTotalExperience() {
            return total;
        }

        void setTotalExperience(int value) {
            total = value;
        }

        Server getServer() {
            return plugin.getServer();
        }

        int getStatistic(Statistic statistic) {
            check("getStatistic");
            return statistics.getOrDefault(statistic.name(), 0);
        }

        int getStatistic(Statistic statistic, Material material) {
            return statistics.getOrDefault(statistic + " " + material, 0);
        }

        /** As the game, which keeps no number of some. */
        int getStatistic(Statistic statistic, EntityType creature) {
            if (creature == EntityType.UNKNOWN) throw new IllegalArgumentException("no number");
            return statistics.getOrDefault(statistic + " " + creature, 0);
        }

        void setStatistic(Statistic statistic, int value) {
            check("setStatistic");
            statistics.put(statistic.name(), value);
        }

        void setStatistic(Statistic statistic, Material material, int value) {
            statistics.put(statistic + " " + material, value);
        }

        void setStatistic(Statistic statistic, EntityType creature, int value) {
            statistics.put(statistic + " " + creature, value);
        }

        AdvancementProgress getAdvancementProgress(Advancement advancement) {
            check("getAdvancementProgress");
            String key = advancement.getKey().toString();
            return Fake.of(AdvancementProgress.class, new Object() {
                Collection<String> getAwardedCriteria() {
                    return criteria.getOrDefault(key, Set.of());
                }

                boolean awardCriteria(String criterion) throws Exception {
                    if (!criteria.computeIfAbsent(key, any -> ConcurrentHashMap.newKeySet()).add(criterion)) return false;
                    total += 100;
                    level++;
                    PlayerAdvancementDoneEvent done = new PlayerAdvancementDoneEvent(api, Component.text(name + " has made " + key));
                    fire(done);
                    if (done.message() != null) announced.add(text(done.message()));
                    return true;
                }

                boolean revokeCriteria(String criterion) {
                    return criteria.getOrDefault(key, Set.of()).remove(criterion);
                }
            });
        }

        Collection<PotionEffect> getActivePotionEffects() {
            return effects.values();
        }

        boolean addPotionEffect(PotionEffect effect) {
            return effects.put(effect.getType().getKey().toString(), effect) == null;
        }

        void removePotionEffect(PotionEffectType type) {
            effects.remove(type.getKey().toString());
        }

        void updateCommands() {
            check("updateCommands");
            updates++;
        }

        PermissionAttachment addAttachment(Plugin owner) {
            check("addAttachment");
            PermissionAttachment made = new PermissionAttachment();
            attachments.add(made);
            return made;
        }

        boolean hasPermission(String node) {
            Map<String, Boolean> effective = new LinkedHashMap<>();
            for (PermissionAttachment attachment : attachments) {
                attachment.getPermissions().forEach((name, value) -> {
                    Permission known = permissions.get(name);
                    if (value && known != null) effective.putAll(known.getChildren());
                    effective.put(name, value);
                });
            }
            return effective.getOrDefault(node, false);
        }

        void sendPluginMessage(Plugin source, String channel, byte[] message) throws IOException {
            check("sendPluginMessage");
            DataInputStream in = new DataInputStream(new ByteArrayInputStream(message));
            sentTo = channel + " " + in.readUTF() + " " + in.readUTF();
        }

        EntityScheduler getScheduler() {
            return (owner, task, retired, delay) -> {
                own.execute(task);
                return true;
            };
        }
    }

    private final class ServerCalls {
        String getName() {
            return isFolia ? "Folia" : "Paper";
        }

        String getMinecraftVersion() {
            return "1.21.8";
        }

        int getPort() {
            return 25_565;
        }

        int getMaxPlayers() {
            return 50;
        }

        boolean getOnlineMode() {
            return false;
        }

        Collection<? extends Player> getOnlinePlayers() {
            return players.values().stream().map(player -> player.api).toList();
        }

        Player getPlayer(UUID uuid) {
            FakePlayer player = players.get(uuid);
            return player == null ? null : player.api;
        }

        void sendMessage(Component message) {
            broadcasts.add(text(message));
        }

        PluginManager getPluginManager() {
            return Fake.of(PluginManager.class, new ManagerCalls());
        }

        ServicesManager getServicesManager() {
            return Fake.of(ServicesManager.class, new Object() {
                void register(Class<?> service, Object provider, Plugin owner, ServicePriority priority) {
                    services.put(service, provider);
                }

                Object load(Class<?> service) {
                    return services.get(service);
                }

                void unregisterAll(Plugin owner) {
                    services.clear();
                }
            });
        }

        Messenger getMessenger() {
            return Fake.of(Messenger.class, new Object() {
                void registerOutgoingPluginChannel(Plugin owner, String channel) {}

                void unregisterOutgoingPluginChannel(Plugin owner) {}
            });
        }

        CommandMap getCommandMap() {
            return (prefix, command) -> commands.put(command.getName(), command) == null;
        }

        GlobalRegionScheduler getGlobalRegionScheduler() {
            return (owner, task) -> main.execute(task);
        }

        Iterator<Advancement> advancementIterator() {
            return Stream.of("minecraft:story/mine_stone", "minecraft:nether/root", "minecraft:recipes/misc/bowl").map(key ->
                    Fake.of(Advancement.class, new Object() {
                        NamespacedKey getKey() {
                            return NamespacedKey.fromString(key);
                        }
                    })).iterator();
        }

        CommandSender createCommandSender(Consumer<? super Component> feedback) {
            return Fake.of(CommandSender.class, new Object() {
                void sendMessage(Component message) {
                    feedback.accept(message);
                }
            });
        }

        boolean dispatchCommand(CommandSender sender, String command) {
            if (!Thread.currentThread().getName().equals("main")) wrongThreads.add("dispatchCommand");
            sender.sendMessage(Component.text("ran " + command));
            return !command.equals("nothing");
        }
    }

    private final class ManagerCalls {
        Plugin[] getPlugins() {
            List<Plugin> all = new ArrayList<>(List.of(plugin));
            for (String name : others) {
                all.add(Fake.of(Plugin.class, new Object() {
                    String getName() {
                        return name;
                    }
                }));
            }
            return all.toArray(Plugin[]::new);
        }

        void registerEvents(Listener listener, Plugin owner) {
            listeners.add(listener);
        }

        void addPermission(Permission permission) {
            if (permissions.putIfAbsent(permission.getName(), permission) != null) throw new IllegalArgumentException("defined already");
        }

        void removePermission(String name) {
            permissions.remove(name);
        }

        Set<Permission> getPermissions() {
            return Set.copyOf(permissions.values());
        }
    }
}
