#include "hub_effects.h"

bool hub_retry(hub_effects_failure_t *failure, hub_string_t why) {
  failure->tag = HUB_EFFECTS_FAILURE_RETRY;
  failure->val.retry = why;
  return false;
}

bool hub_reject(hub_effects_failure_t *failure, hub_string_t why) {
  failure->tag = HUB_EFFECTS_FAILURE_REJECT;
  failure->val.reject = why;
  return false;
}

bool hub_failed(hub_effects_failure_t *failure, hub_host_error_t error) {
  switch (error.tag) {
    case HUB_HOST_ERROR_INVALID: return hub_reject(failure, error.val.invalid);
    case HUB_HOST_ERROR_FORBIDDEN: return hub_reject(failure, hub_describe(error));
    case HUB_HOST_ERROR_QUOTA_EXCEEDED: return hub_retry(failure, hub_text("the module's state is full"));
    default: return hub_retry(failure, hub_text("the hub's data can't be reached"));
  }
}

int64_t hub_amount(double units) { return (int64_t)(units * 10000 + (units < 0 ? -0.5 : 0.5)); }

hub_option_string_t hub_some(hub_string_t text) { return (hub_option_string_t){true, text}; }

static hub_effects_effect_t *add(hub_effects_t *effects, hub_effects_action_t action) {
  if (effects->len == effects->room) {
    effects->room = effects->room * 2 + 4;
    effects->ptr = realloc(effects->ptr, effects->room * sizeof *effects->ptr);
  }
  hub_effects_effect_t *added = &effects->ptr[effects->len++];
  *added = (hub_effects_effect_t){.action = action, .optional = false};
  return added;
}

#define EFFECT(name, NAME)                                                                          \
  hub_effects_effect_t *hub_##name(hub_effects_t *effects, hub_effects_##name##_t fields) {         \
    return add(effects, (hub_effects_action_t){HUB_EFFECTS_ACTION_##NAME, {.name = fields}});       \
  }

EFFECT(modify_currency, MODIFY_CURRENCY)
EFFECT(transaction, TRANSACTION)
EFFECT(increment_statistic, INCREMENT_STATISTIC)
EFFECT(put_player_data, PUT_PLAYER_DATA)
EFFECT(delete_player_data, DELETE_PLAYER_DATA)
EFFECT(put_document, PUT_DOCUMENT)
EFFECT(delete_document, DELETE_DOCUMENT)
EFFECT(put_permission, PUT_PERMISSION)
EFFECT(remove_permission, REMOVE_PERMISSION)
EFFECT(punish, PUNISH)
EFFECT(revoke_punishment, REVOKE_PUNISHMENT)
EFFECT(send_chat, SEND_CHAT)
EFFECT(emit, EMIT)
EFFECT(deliver, DELIVER)
EFFECT(run_command, RUN_COMMAND)
EFFECT(transfer, TRANSFER)
EFFECT(call_webhook, CALL_WEBHOOK)
EFFECT(set_timer, SET_TIMER)
EFFECT(cancel_timer, CANCEL_TIMER)

hub_effects_effect_t *hub_pay(hub_effects_t *effects, hub_string_t player, hub_string_t currency, double units,
                              const char *reason) {
  return hub_modify_currency(effects, (hub_effects_modify_currency_t){
                                          .owner_type = hub_text("player"),
                                          .owner_key = player,
                                          .currency = currency,
                                          .amount = hub_amount(units),
                                          .reason = hub_some(hub_text(reason)),
                                      });
}

hub_effects_effect_t *hub_count(hub_effects_t *effects, hub_string_t player, const char *statistic, double amount) {
  return hub_increment_statistic(effects, (hub_effects_increment_statistic_t){
                                              .owner_type = hub_text("player"),
                                              .owner_key = player,
                                              .name = hub_text(statistic),
                                              .amount = amount,
                                          });
}

hub_effects_effect_t *hub_tell(hub_effects_t *effects, hub_string_t player, hub_string_t text) {
  hub_effects_chat_target_t target = {HUB_EFFECTS_CHAT_TARGET_PLAYER, {.player = player}};
  return hub_send_chat(effects, (hub_effects_send_chat_t){.target = target, .text = text});
}

hub_effects_effect_t *hub_announce(hub_effects_t *effects, hub_string_t text) {
  hub_effects_chat_target_t target = {.tag = HUB_EFFECTS_CHAT_TARGET_NETWORK};
  return hub_send_chat(effects, (hub_effects_send_chat_t){.target = target, .text = text});
}
