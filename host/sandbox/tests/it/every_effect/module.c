// Each effect.
#include "hub_effects.h"

#define SOME(text) hub_some(hub_text(text))

static void every(hub_effects_t *effects, uint64_t now, double count) {
  hub_string_t p = hub_text("p"), farm = hub_text("farm"), coins = hub_text("coins"), global = hub_text("global");
  hub_string_t friends = hub_text("friends"), node = hub_text("rank.vip"), empty = hub_text("{}");
  hub_effects_operation_t operations[] = {
      {hub_text("player"), p, coins, hub_amount(-10)},
      {farm, hub_text("f"), coins, hub_amount(10)},
  };
  hub_pay(effects, p, coins, -count, "fee")->action.val.modify_currency.exact = true;
  hub_modify_currency(effects, (hub_effects_modify_currency_t){
                                   .owner_type = farm, .owner_key = hub_text("f"), .currency = coins, .amount = hub_amount(0.3)});
  // The list is read when the call ends.
  hub_effects_operation_t *kept = malloc(sizeof operations);
  memcpy(kept, operations, sizeof operations);
  hub_transaction(effects, (hub_effects_transaction_t){.operations = {kept, 2}, .reason = SOME("rent")});
  hub_count(effects, p, "votes", 1.5)->action.val.increment_statistic.game_mode = SOME("bedwars");
  hub_put_player_data(effects, (hub_effects_put_player_data_t){p, global, hub_text("quests"), empty, {true, 3}});
  hub_delete_player_data(effects, (hub_effects_delete_player_data_t){.player_uuid = p, .game_mode = global, .namespace_ = hub_text("quests")});
  hub_string_t document = hub_join("{\"friends\": [", hub_json_text(hub_text("Jürgen \"J\"")), "]}");
  hub_put_document(effects, (hub_effects_put_document_t){friends, p, document, SOME("{\"friends\": []}")});
  hub_delete_document(effects, (hub_effects_delete_document_t){.collection = friends, .id = p});
  hub_put_permission(effects, (hub_effects_put_permission_t){
                                  p, node, true, SOME("lobby"), SOME("nether"), {true, 1797000000000}});
  hub_remove_permission(effects, (hub_effects_remove_permission_t){.player_uuid = p, .node = node});
  hub_punish(effects, (hub_effects_punish_t){.player_name = SOME("Notch"),
                                             .kind = HUB_PUNISHMENT_KIND_MUTE,
                                             .duration_ms = {true, 600000},
                                             .reason = hub_text("flood")});
  hub_revoke_punishment(effects, (hub_effects_revoke_punishment_t){91, SOME("appeal")});
  hub_announce(effects, hub_text("all"))->action.val.send_chat.prefix = SOME("[Vote]");
  hub_send_chat(effects, (hub_effects_send_chat_t){
                             .target = {HUB_EFFECTS_CHAT_TARGET_SERVER_TYPE, {.server_type = hub_text("lobby")}},
                             .text = hub_text("type")});
  hub_send_chat(effects, (hub_effects_send_chat_t){
                             .target = {HUB_EFFECTS_CHAT_TARGET_SERVER, {.server = hub_text("lobby-1")}},
                             .text = hub_text("server")});
  hub_tell(effects, p, hub_text("player"))->optional = true;
  hub_emit(effects, (hub_effects_emit_t){hub_text("every"), hub_some(p), hub_text("{\"count\": 2.5}")});
  hub_deliver(effects, (hub_effects_deliver_t){.player_uuid = hub_some(p),
                                               .kind = hub_text("kit"),
                                               .payload = hub_text("{\"kit\": \"starter\"}"),
                                               .server_type = SOME("survival"),
                                               .not_before_ms = {true, now + 60000},
                                               .expires_at_ms = {true, 1800000000000},
                                               .reference = SOME("tebex-8812"),
                                               .on_lost = {true, HUB_EFFECTS_ON_LOST_RETRY}});
  hub_deliver(effects, (hub_effects_deliver_t){
                           .player_name = SOME("Notch"), .kind = hub_text("kit"), .payload = empty});
  hub_run_command(effects, (hub_effects_run_command_t){hub_text("lobby-1"), hub_text("say hello"), {true, 5000}})->optional = true;
  hub_transfer(effects, (hub_effects_transfer_t){p, hub_text("lobby-1"), SOME("w")});
  hub_call_webhook(effects, (hub_effects_call_webhook_t){hub_text("wh_3"), hub_text("purchase"), hub_text("{\"id\": \"8812\"}")});
  hub_set_timer(effects, (hub_effects_set_timer_t){hub_text("player:p"), now + 60000, hub_text("{\"step\": 2}")});
  hub_cancel_timer(effects, (hub_effects_cancel_timer_t){hub_text("player:p")});
}

// Uses each function of the state. False if the host could not answer.
static bool use_state(hub_host_error_t *error) {
  hub_string_t asked[] = {hub_text("a:1"), hub_text("b")}, count = hub_text("count"), old = hub_text("old");
  hub_string_t prefix = hub_text("a:"), read = hub_text("read");
  hub_list_string_t keys = {asked, 2}, online;
  hub_list_option_string_t values;
  hub_state_list_entry_t entries;
  uint64_t minute = 60000;
  if (!hub_state_get_many(&keys, &values, error)) return false;
  if (!hub_state_list(&prefix, &asked[0], 1, &entries, error)) return false;
  if (!hub_state_increment(&count, 2, &minute, error) || !hub_state_delete(&old, error)) return false;
  if (!hub_players_online_players(NULL, 200, &online, error)) return false;
  if (values.len != 2 || values.ptr[1].is_some || entries.len != 1 || online.len != 1) return true;
  hub_string_t entry = hub_concat(hub_join(",-,", entries.ptr[0].key, "="), hub_join("", entries.ptr[0].value, ","));
  hub_string_t all = hub_concat(values.ptr[0].val, hub_concat(entry, online.ptr[0]));
  return hub_state_set(&read, &all, NULL, error);
}

bool exports_events_handle(exports_events_call_context_t *context, exports_events_event_t *event,
                           exports_events_list_effect_t *answer, exports_events_failure_t *failure) {
  hub_host_error_t error;
  hub_option_string_t none;
  hub_string_t key = hub_text("handlers have none");
  if (hub_equal(event->kind, hub_text("SERVER_ONLINE"))) return hub_retry(failure, hub_text("later"));
  if (hub_equal(event->kind, hub_text("SERVER_OFFLINE")) && !hub_store_get(&key, &none, &error)) {
    return hub_failed(failure, error);
  }
  hub_effects_t effects = {0};
  // Fields that are missing or of another type do no harm.
  hub_string_t name = hub_data_text(event->data, "name", ""), missing = hub_data_text(event->data, "key", "none");
  if (!hub_equal(name, hub_text("every")) || !hub_equal(missing, hub_text("none"))) return hub_done(answer, effects);
  if (!hub_data_bool(event->data, "loud", false) || hub_data_bool(event->data, "name", false)) hub_fail("no boolean");
  if (!use_state(&error)) return hub_failed(failure, error);
  every(&effects, context->now_ms, hub_data_number(event->data, "count", 0));
  return hub_done(answer, effects);
}
