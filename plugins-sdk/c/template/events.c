// Welcome: a reward for the first join, and a count of them.
#include "hub_effects.h"

// Adds one to the number of joined players, and sets it. False if the host could not answer.
static bool count(int64_t *joined, hub_host_error_t *error) {
  hub_string_t key = hub_text("joined");
  hub_option_string_t before;
  if (!hub_state_get(&key, &before, error)) return false;
  if (!before.is_some || !hub_whole(before.val, joined)) *joined = 0;
  *joined += 1;
  hub_string_t after = hub_decimal(*joined);
  return hub_state_set(&key, &after, NULL, error);
}

bool exports_events_handle(exports_events_call_context_t *context, exports_events_event_t *event,
                           exports_events_list_effect_t *answer, exports_events_failure_t *failure) {
  hub_config_fields(context->config, "currency", "reward", "announceEvery", NULL);
  hub_string_t currency = hub_config_text(context->config, "currency", "coins");
  // 0: none.
  double reward = hub_config_number(context->config, "reward", 100);
  // Each so many first joins are announced; 0: none.
  int64_t announce_every = hub_config_whole(context->config, "announceEvery", 100);

  if (!event->player_uuid.is_some) return hub_reject(failure, hub_join("", event->kind, " is about no player"));
  hub_string_t player = event->player_uuid.val;
  hub_string_t name = event->player_name.is_some ? event->player_name.val : hub_text("stranger");
  hub_effects_t effects = {0};
  hub_host_error_t error;

  hub_string_t key = hub_join("seen:", player, ""), seen = hub_text("1");
  hub_option_string_t before;
  if (!hub_state_get(&key, &before, &error)) return hub_failed(failure, error);
  if (before.is_some) return hub_done(answer, effects);
  // Committed with the effects: all or nothing.
  if (!hub_state_set(&key, &seen, NULL, &error)) return hub_failed(failure, error);

  if (reward > 0) hub_pay(&effects, player, currency, reward, "first join");
  // Refused where the player has left meanwhile, which is no reason to keep the reward back.
  hub_tell(&effects, player, hub_join("Welcome, ", name, "!"))->optional = true;
  // Of two calls that count at once, one runs again.
  int64_t joined;
  if (!count(&joined, &error)) return hub_failed(failure, error);
  if (announce_every > 0 && joined % announce_every == 0) {
    hub_info(hub_join("announced ", name, ""));
    hub_announce(&effects, hub_concat(name, hub_join(" is player number ", hub_decimal(joined), ".")));
  }
  return hub_done(answer, effects);
}
