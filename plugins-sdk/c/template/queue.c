// Members first: players with a permission wait less, and others with another one do not wait at all.
#include "hub_module.h"

// Sets whether the player holds the permission. False if the host could not answer.
static bool has(hub_string_t uuid, hub_string_t node, bool *held, hub_host_error_t *error) {
  *held = false;
  if (node.len == 0) return true;
  hub_players_permission_state_t state;
  if (!hub_players_permission(&uuid, &node, NULL, NULL, &state, error)) return false;
  *held = state == HUB_PLAYERS_PERMISSION_STATE_GRANTED;
  return true;
}

void exports_queue_place(exports_queue_call_context_t *context, exports_queue_ticket_t *ticket,
                         exports_queue_decision_t *decision) {
  hub_config_fields(context->config, "memberNode", "memberPriority", "blockedNode", NULL);
  // Permission of members.
  hub_string_t member_node = hub_config_text(context->config, "memberNode", "queue.member");
  // Their priority; that of others is 0.
  double member_priority = hub_config_number(context->config, "memberPriority", 100);
  // Permission of players who may not wait; empty: none.
  hub_string_t blocked_node = hub_config_text(context->config, "blockedNode", "");

  bool is_blocked, is_member;
  hub_host_error_t error;
  hub_string_t uuid = ticket->player.uuid;
  decision->tag = EXPORTS_QUEUE_DECISION_ADMIT;
  decision->val.admit = 0;
  if (!has(uuid, blocked_node, &is_blocked, &error) || !has(uuid, member_node, &is_member, &error)) {
    hub_warn(hub_join("permissions can't be read: ", hub_describe(error), ""));
  } else if (is_blocked) {
    decision->tag = EXPORTS_QUEUE_DECISION_REFUSE;
    decision->val.refuse = hub_text("You can't join games right now.");
  } else if (is_member) {
    decision->val.admit = (int32_t)member_priority;
  }
}
