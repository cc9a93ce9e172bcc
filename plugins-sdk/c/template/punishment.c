// Second chance: a first ban is short, a third mute becomes a ban, and some players are never punished.
#include "hub_module.h"

typedef struct {
  // The longest first ban.
  uint64_t first_ban_ms;
  // Players with this permission are never punished; empty: none.
  hub_string_t immune_node;
} config_t;

enum { A_WEEK_MS = 7 * 24 * 60 * 60 * 1000 };

static config_t read_config(hub_string_t config) {
  hub_config_fields(config, "firstBanMs", "immuneNode", NULL);
  return (config_t){hub_config_whole(config, "firstBanMs", A_WEEK_MS), hub_config_text(config, "immuneNode", "")};
}

// Sets whether the player holds the permission. False if the host could not answer.
static bool is_immune(hub_string_t *uuid, hub_string_t *node, bool *immune, hub_players_host_error_t *error) {
  *immune = false;
  if (node->len == 0) return true;
  hub_players_permission_state_t state;
  if (!hub_players_permission(uuid, node, NULL, NULL, &state, error)) return false;
  *immune = state == HUB_PLAYERS_PERMISSION_STATE_GRANTED;
  return true;
}

// Counts the player's punishments of a kind; revoked ones do not count. False if the host could not answer.
static bool earlier(hub_string_t *uuid, hub_punishment_kind_t kind, size_t *count, hub_players_host_error_t *error) {
  hub_players_punishment_filter_t filter = {.kind = {.is_some = true, .val = kind}, .limit = 100};
  hub_players_list_punishment_t record;
  if (!hub_players_punishments(uuid, &filter, &record, error)) return false;
  *count = 0;
  for (size_t at = 0; at < record.len; at++) *count += !record.ptr[at].revoked;
  return true;
}

// Decides about the terms. False if the host could not answer.
static bool evaluate(config_t *config, exports_punishment_proposal_t *proposal,
                     exports_punishment_decision_t *decision, hub_players_host_error_t *error) {
  hub_string_t *uuid = &proposal->player_uuid.val;
  exports_punishment_terms_t terms = proposal->terms;
  bool immune;
  if (!is_immune(uuid, &config->immune_node, &immune, error)) return false;
  if (immune) {
    hub_string_t name = proposal->player_name.is_some ? proposal->player_name.val : hub_text("This player");
    decision->tag = EXPORTS_PUNISHMENT_DECISION_REFUSE;
    decision->val.refuse = hub_join("", name, " can't be punished.");
    return true;
  }
  size_t count;
  bool is_long = !terms.duration_ms.is_some || terms.duration_ms.val > config->first_ban_ms;
  if (terms.kind == HUB_PUNISHMENT_KIND_BAN && is_long) {
    if (!earlier(uuid, HUB_PUNISHMENT_KIND_BAN, &count, error)) return false;
    if (count > 0) return true;
    terms.duration_ms.is_some = true;
    terms.duration_ms.val = config->first_ban_ms;
  } else if (terms.kind == HUB_PUNISHMENT_KIND_MUTE) {
    if (!earlier(uuid, HUB_PUNISHMENT_KIND_MUTE, &count, error)) return false;
    if (count < 2) return true;
    terms.kind = HUB_PUNISHMENT_KIND_BAN;
  } else {
    return true;
  }
  decision->tag = EXPORTS_PUNISHMENT_DECISION_AMEND;
  decision->val.amend = terms;
  return true;
}

void exports_punishment_review(exports_punishment_call_context_t *context, exports_punishment_proposal_t *proposal,
                               exports_punishment_verdict_t *verdict) {
  config_t config = read_config(context->config);
  hub_players_host_error_t error;
  verdict->decision.tag = EXPORTS_PUNISHMENT_DECISION_ACCEPT;
  verdict->follow_ups.len = 0;
  if (proposal->player_uuid.is_some && !evaluate(&config, proposal, &verdict->decision, &error)) {
    hub_warn(hub_join("the record can't be read: ", hub_describe(error), ""));
  }
}
