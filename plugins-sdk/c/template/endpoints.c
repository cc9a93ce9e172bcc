// Coins for votes that a listing of servers reports, and each voter's count.
#include "hub_endpoints.h"

// A player's votes. False if the host could not answer.
static bool votes_of(hub_string_t player, int64_t *votes, hub_host_error_t *error) {
  hub_string_t key = hub_join("votes:", player, "");
  hub_option_string_t count;
  if (!hub_state_get(&key, &count, error)) return false;
  if (!count.is_some || !hub_whole(count.val, votes)) *votes = 0;
  return true;
}

static hub_string_t count_json(int64_t votes) { return hub_join("{\"votes\":", hub_decimal(votes), "}"); }

// The hub has checked who sent it, and calls once for each vote however often it is sent.
static bool vote(hub_string_t config, exports_endpoints_request_t *request, exports_endpoints_response_t *response,
                 exports_endpoints_failure_t *failure) {
  hub_string_t player = hub_data_text(hub_body(request), "player", "");
  if (player.len == 0) return hub_error_answer(response, 400, "invalid_request", "a vote has a `player`");
  int64_t votes;
  hub_host_error_t error;
  if (!votes_of(player, &votes, &error)) return hub_failed(failure, error);
  votes += 1;
  // Committed with the effects and the answer: all or nothing.
  hub_string_t key = hub_join("votes:", player, ""), count = hub_decimal(votes);
  if (!hub_state_set(&key, &count, NULL, &error)) return hub_failed(failure, error);

  hub_effects_t effects = {0};
  hub_string_t currency = hub_config_text(config, "currency", "coins");
  hub_pay(&effects, player, currency, hub_config_number(config, "reward", 25), "vote");
  // Kind of the delivery for each tenth vote; empty: none.
  hub_string_t tenth = hub_config_text(config, "tenth", "");
  if (votes % 10 == 0 && tenth.len > 0) {
    hub_info(hub_concat(hub_join("vote ", count, " of "), player));
    hub_deliver(&effects, (hub_effects_deliver_t){.player_uuid = hub_some(player),
                                                  .kind = tenth,
                                                  .payload = count_json(votes),
                                                  .reference = request->dedupe});
  }
  return hub_json_answer(response, 200, count_json(votes), effects);
}

bool exports_endpoints_answer(exports_endpoints_call_context_t *context, exports_endpoints_request_t *request,
                              exports_endpoints_response_t *response, exports_endpoints_failure_t *failure) {
  hub_config_fields(context->config, "currency", "reward", "tenth", NULL);
  if (hub_equal(request->endpoint, hub_text("vote"))) return vote(context->config, request, response, failure);
  if (!hub_equal(request->endpoint, hub_text("votes"))) {
    return hub_reject(failure, hub_join("there is no endpoint ", request->endpoint, ""));
  }
  int64_t votes;
  hub_host_error_t error;
  if (!votes_of(hub_parameter(request, "player"), &votes, &error)) return hub_failed(failure, error);
  return hub_json_answer(response, 200, count_json(votes), (hub_effects_t){0});
}
