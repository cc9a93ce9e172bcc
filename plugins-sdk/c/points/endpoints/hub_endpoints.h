// Endpoints: parts of requests, and answers.
//
//     bool exports_endpoints_answer(exports_endpoints_call_context_t *context, exports_endpoints_request_t *request,
//                                   exports_endpoints_response_t *response, exports_endpoints_failure_t *failure) {
//       (void)context, (void)failure;
//       hub_string_t player = hub_data_text(hub_body(request), "player", "");
//       if (player.len == 0) return hub_error_answer(response, 400, "invalid_request", "a vote has a `player`");
//       hub_effects_t effects = {0};
//       hub_pay(&effects, player, hub_text("coins"), 25, "vote");
//       return hub_json_answer(response, 200, hub_text("{\"ok\": true}"), effects);
//     }
//
// The hub has checked the route, size, signature and schema before. What is wrong with a request is an answer, such as
// 400; a failure (`hub_reject`, `hub_retry`, `hub_failed`) is one of the module: nothing of the call is kept, and the
// caller gets 502 `module_failed`.
#pragma once
#include "hub_effects.h"

// ---- Requests ----

// A parameter of the path; empty if there is none of this name.
hub_string_t hub_parameter(exports_endpoints_request_t *request, const char *name);

// The first value of a name in the query. False if it is not there.
bool hub_query(exports_endpoints_request_t *request, const char *name, hub_string_t *value);

// `content-type`, or a header that module.toml lists, by its name in lower case. False if it is not there.
bool hub_header(exports_endpoints_request_t *request, const char *name, hub_string_t *value);

// The body as a text, up to 64 KiB. `hub_data_text` and its like read a JSON object.
hub_string_t hub_body(exports_endpoints_request_t *request);

// ---- Answers: `return` them. Their status is 200 to 299, 303, or 400 to 422 except 401, 403 and 413 ----

// An answer in JSON, the text of one value, with its effects: `(hub_effects_t){0}` is none, as for GET. Up to 256 KiB.
bool hub_json_answer(exports_endpoints_response_t *response, uint16_t status, hub_string_t json, hub_effects_t effects);

// An answer in plain text.
bool hub_text_answer(exports_endpoints_response_t *response, uint16_t status, hub_string_t text, hub_effects_t effects);

// An error in the form of the hub's own: {"error": message, "code": code}.
bool hub_error_answer(exports_endpoints_response_t *response, uint16_t status, const char *code, const char *message);

// An answer without a body, such as 204.
bool hub_empty_answer(exports_endpoints_response_t *response, uint16_t status, hub_effects_t effects);

// Adds a header to an answer that was made by one of the above: `cache-control`, `etag`, `location` or `x-…`. Up to 16,
// 4 KiB together.
void hub_add_header(exports_endpoints_response_t *response, const char *name, hub_string_t value);
