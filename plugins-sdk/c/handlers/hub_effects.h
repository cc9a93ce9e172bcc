// Effects: what a handler asks the hub to do, up to 64 a call.
//
// Each function adds one effect to a list and returns it; with `->optional = true` the hub may refuse it and applies the
// others all the same. They are applied in their order, in one transaction with what the call wrote with `hub_state_…`:
// all or nothing. The records and their fields are in hub.h; a field that is left out is "none".
//
//     hub_effects_t effects = {0};
//     hub_put_permission(&effects, (hub_effects_put_permission_t){
//         .player_uuid = player, .node = hub_text("rank.vip"), .value = true});
//     return hub_done(answer, effects);
//
// Each needs a scope among `scopes` in module.toml, which the module's owner grants. Amounts of currencies are in
// ten-thousandths of the unit; documents and payloads are the text of one JSON object.
#pragma once
#include "hub_module.h"

// A list of effects. It begins as `{0}`.
typedef struct {
  hub_effects_effect_t *ptr;
  size_t len, room;
} hub_effects_t;

// ---- Answers: `return` them from the handler ----

// The call succeeded; `answer` is the handler's list or the `effects` of its response.
#define hub_done(answer, effects) ((answer)->ptr = (effects).ptr, (answer)->len = (effects).len, true)

// It is to be called again later, 8 times in all. Up to 1,024 characters.
bool hub_retry(hub_effects_failure_t *failure, hub_string_t why);

// It never can succeed: a dead letter at once. Up to 1,024 characters.
bool hub_reject(hub_effects_failure_t *failure, hub_string_t why);

// A host function returned `false`: to be tried again where that may help, else rejected.
bool hub_failed(hub_effects_failure_t *failure, hub_host_error_t error);

// ---- Fields ----

// An amount in units of a currency: `hub_amount(2.5)` is 25,000.
int64_t hub_amount(double units);

// A text for an optional field.
hub_option_string_t hub_some(hub_string_t text);

// ---- Common effects ----

// Adds to a player's balance; negative takes away. Scope `economy:write`.
hub_effects_effect_t *hub_pay(hub_effects_t *effects, hub_string_t player, hub_string_t currency, double units,
                              const char *reason);

// Adds to a player's statistic of the game mode `global`. Scope `players:write`.
hub_effects_effect_t *hub_count(hub_effects_t *effects, hub_string_t player, const char *statistic, double amount);

// Shows a message to a player; refused if they are offline. Scope `chat:send`.
hub_effects_effect_t *hub_tell(hub_effects_t *effects, hub_string_t player, hub_string_t text);

// Shows a message to all players of the network. Scope `chat:send`.
hub_effects_effect_t *hub_announce(hub_effects_t *effects, hub_string_t text);

// ---- All effects ----

hub_effects_effect_t *hub_modify_currency(hub_effects_t *effects, hub_effects_modify_currency_t fields);
hub_effects_effect_t *hub_transaction(hub_effects_t *effects, hub_effects_transaction_t fields);
hub_effects_effect_t *hub_increment_statistic(hub_effects_t *effects, hub_effects_increment_statistic_t fields);
hub_effects_effect_t *hub_put_player_data(hub_effects_t *effects, hub_effects_put_player_data_t fields);
hub_effects_effect_t *hub_delete_player_data(hub_effects_t *effects, hub_effects_delete_player_data_t fields);
hub_effects_effect_t *hub_put_document(hub_effects_t *effects, hub_effects_put_document_t fields);
hub_effects_effect_t *hub_delete_document(hub_effects_t *effects, hub_effects_delete_document_t fields);
hub_effects_effect_t *hub_put_permission(hub_effects_t *effects, hub_effects_put_permission_t fields);
hub_effects_effect_t *hub_remove_permission(hub_effects_t *effects, hub_effects_remove_permission_t fields);
hub_effects_effect_t *hub_punish(hub_effects_t *effects, hub_effects_punish_t fields);
hub_effects_effect_t *hub_revoke_punishment(hub_effects_t *effects, hub_effects_revoke_punishment_t fields);
hub_effects_effect_t *hub_send_chat(hub_effects_t *effects, hub_effects_send_chat_t fields);
hub_effects_effect_t *hub_emit(hub_effects_t *effects, hub_effects_emit_t fields);
hub_effects_effect_t *hub_deliver(hub_effects_t *effects, hub_effects_deliver_t fields);
hub_effects_effect_t *hub_run_command(hub_effects_t *effects, hub_effects_run_command_t fields);
hub_effects_effect_t *hub_transfer(hub_effects_t *effects, hub_effects_transfer_t fields);
hub_effects_effect_t *hub_call_webhook(hub_effects_t *effects, hub_effects_call_webhook_t fields);
hub_effects_effect_t *hub_set_timer(hub_effects_t *effects, hub_effects_set_timer_t fields);
hub_effects_effect_t *hub_cancel_timer(hub_effects_t *effects, hub_effects_cancel_timer_t fields);
