// Fill up: servers of the player's region first, then those with the party's game, then the fullest with room.
#include "hub_module.h"

typedef struct {
  // Maximum fill level of a server, as a share of its slots.
  double max_fill;
  // Server types to which no player is sent.
  hub_list_string_t closed_types;
} config_t;

static config_t read_config(hub_string_t config) {
  hub_config_fields(config, "maxFill", "closedTypes", NULL);
  return (config_t){hub_config_number(config, "maxFill", 1.0), hub_config_texts(config, "closedTypes")};
}

static bool refuse(exports_matchmaking_match_request_t *request, exports_matchmaking_refusal_t *refusal) {
  refusal->reason = hub_join("No ", request->server_type, " is open right now.");
  return false;
}

static bool has_room(uint32_t players, uint32_t most, double max_fill) {
  return most == 0 || players < most * max_fill;
}

// One number to sort by: region, affinity, players, and the index last, which keeps the order of equals.
static uint64_t rank(bool is_near, bool affinity, uint32_t players, uint32_t index) {
  uint64_t missing = 0x3fffffff - (players < 0x3fffffff ? players : 0x3fffffff);
  return (uint64_t)!is_near << 63 | (uint64_t)!affinity << 62 | missing << 32 | index;
}

// Sorts, and answers with the indices in the lower halves.
static void answer(uint64_t *ranks, size_t count, hub_list_u32_t *order) {
  hub_sort(ranks, count);
  order->ptr = malloc(count * sizeof *order->ptr);
  order->len = count;
  for (size_t at = 0; at < count; at++) order->ptr[at] = (uint32_t)ranks[at];
}

bool exports_matchmaking_rank_servers(exports_matchmaking_call_context_t *context,
                                      exports_matchmaking_match_request_t *request,
                                      exports_matchmaking_list_server_candidate_t *servers, hub_list_u32_t *order,
                                      exports_matchmaking_refusal_t *refusal) {
  config_t config = read_config(context->config);
  if (hub_contains(config.closed_types, request->server_type)) return refuse(request, refusal);
  uint64_t *ranks = malloc(servers->len * sizeof *ranks);
  size_t count = 0;
  for (size_t at = 0; at < servers->len; at++) {
    exports_matchmaking_server_candidate_t *server = &servers->ptr[at];
    if (!has_room(server->current_players, server->max_players, config.max_fill)) continue;
    bool is_near = server->region == request->region;
    ranks[count++] = rank(is_near, server->affinity, server->current_players, server->index);
  }
  answer(ranks, count, order);
  return true;
}

bool exports_matchmaking_rank_worlds(exports_matchmaking_call_context_t *context,
                                     exports_matchmaking_match_request_t *request,
                                     exports_matchmaking_list_world_candidate_t *worlds, hub_list_u32_t *order,
                                     exports_matchmaking_refusal_t *refusal) {
  config_t config = read_config(context->config);
  if (hub_contains(config.closed_types, request->server_type)) return refuse(request, refusal);
  uint64_t *ranks = malloc(worlds->len * sizeof *ranks);
  size_t count = 0;
  for (size_t at = 0; at < worlds->len; at++) {
    exports_matchmaking_world_candidate_t *world = &worlds->ptr[at];
    if (!has_room(world->current_players, world->max_players, config.max_fill)) continue;
    bool is_near = world->region == request->region;
    ranks[count++] = rank(is_near, world->affinity, world->current_players, world->index);
  }
  answer(ranks, count, order);
  return true;
}
