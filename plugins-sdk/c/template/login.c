// Doorkeeper: while the network is closed only players with a permission may join, and new players may be kept out.
#include "hub_module.h"

// True if the player may always join; false, too, if the host could not answer.
static bool is_staff(hub_string_t uuid, hub_string_t node) {
  hub_players_permission_state_t state;
  hub_host_error_t error;
  if (node.len == 0) return false;
  if (hub_players_permission(&uuid, &node, NULL, NULL, &state, &error)) {
    return state == HUB_PLAYERS_PERMISSION_STATE_GRANTED;
  }
  hub_warn(hub_join("permissions can't be read: ", hub_describe(error), ""));
  return false;
}

void exports_login_check(exports_login_call_context_t *context, exports_login_attempt_t *attempt,
                         exports_login_decision_t *decision) {
  hub_config_fields(context->config, "closed", "staffNode", "newPlayers", NULL);
  // Reason for keeping everybody else out; empty: the network is open.
  hub_string_t closed = hub_config_text(context->config, "closed", "");
  // Permission of players who may always join.
  hub_string_t staff_node = hub_config_text(context->config, "staffNode", "join.always");
  // False keeps players out whom the network has never seen.
  bool new_players = hub_config_bool(context->config, "newPlayers", true);

  bool is_closed = closed.len > 0, is_new = !new_players && attempt->first_join;
  decision->tag = EXPORTS_LOGIN_DECISION_ALLOW;
  if ((!is_closed && !is_new) || is_staff(attempt->player.uuid, staff_node)) return;
  decision->tag = EXPORTS_LOGIN_DECISION_REFUSE;
  decision->val.refuse.reason = is_closed ? closed : hub_text("New players can't join right now.");
  decision->val.refuse.kind = hub_text(is_closed ? "closed" : "new_player");
}
