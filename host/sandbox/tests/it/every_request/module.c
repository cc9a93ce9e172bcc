// Each part of requests and answers.
#include "hub_endpoints.h"

static const char *const KINDS[] = {"KEY", "PUBLIC", "SIGNED", "PERSON"};

static void add(hub_string_t *line, hub_string_t part) {
  *line = line->ptr == NULL ? part : hub_concat(*line, hub_join("|", part, ""));
}

static hub_string_t or_none(hub_option_string_t text) { return text.is_some ? text.val : hub_text("-"); }

static bool echo(exports_endpoints_request_t *request, exports_endpoints_response_t *response,
                 exports_endpoints_failure_t *failure) {
  hub_string_t line = {NULL, 0}, none = hub_text("-"), page = none, type = none, trace = none, servers = {NULL, 0};
  hub_string_t thing = hub_parameter(request, "thing");
  hub_query(request, "page", &page);
  hub_header(request, "content-type", &type);
  hub_header(request, "x-trace", &trace);
  for (size_t at = 0; at < request->caller.servers.len; at++) {
    servers = hub_concat(servers, hub_join(at > 0 ? "," : "", request->caller.servers.ptr[at], ""));
  }
  add(&line, request->method);
  add(&line, request->path);
  add(&line, thing.len > 0 ? thing : none);
  add(&line, page);
  add(&line, type);
  add(&line, trace);
  add(&line, or_none(request->dedupe));
  add(&line, hub_text(KINDS[request->caller.kind]));
  add(&line, request->caller.id);
  add(&line, servers);
  add(&line, request->address_hash);
  add(&line, or_none(request->address));
  add(&line, hub_body(request));
  hub_effects_t effects = {0};
  if (request->dedupe.is_some) {
    hub_string_t key = hub_text("seen");
    hub_host_error_t error;
    if (!hub_state_set(&key, &request->dedupe.val, NULL, &error)) return hub_failed(failure, error);
    hub_cancel_timer(&effects, (hub_effects_cancel_timer_t){request->dedupe.val})->optional = true;
  }
  hub_text_answer(response, 200, line, effects);
  hub_add_header(response, "x-trace", trace);
  hub_add_header(response, "cache-control", hub_text("no-store"));
  return true;
}

// The fields of the body, written again.
static bool fields(exports_endpoints_request_t *request, exports_endpoints_response_t *response) {
  hub_string_t body = hub_body(request), name = hub_data_text(body, "name", "");
  bool loud = hub_data_bool(body, "loud", false);
  if (hub_data_number(body, "count", 0) != 2.5) return hub_error_answer(response, 422, "no_json", "no \"JSON\"");
  hub_string_t json = hub_join("{\"name\":", hub_json_text(name), loud ? ",\"count\":2.5,\"loud\":true}" : "}");
  return hub_json_answer(response, 200, json, (hub_effects_t){0});
}

bool exports_endpoints_answer(exports_endpoints_call_context_t *context, exports_endpoints_request_t *request,
                              exports_endpoints_response_t *response, exports_endpoints_failure_t *failure) {
  (void)context;
  hub_effects_t effects = {0};
  if (hub_equal(request->endpoint, hub_text("echo"))) return echo(request, response, failure);
  if (hub_equal(request->endpoint, hub_text("json"))) return fields(request, response);
  if (hub_equal(request->endpoint, hub_text("later"))) return hub_retry(failure, hub_text("later"));
  if (hub_equal(request->endpoint, hub_text("bytes"))) {
    hub_empty_answer(response, 201, effects);
    response->body = request->body;
    hub_add_header(response, "content-type", hub_text("application/octet-stream"));
    return true;
  }
  if (hub_equal(request->endpoint, hub_text("store"))) {
    hub_string_t key = hub_text("endpoints have none");
    hub_option_string_t none;
    hub_host_error_t error;
    if (!hub_store_get(&key, &none, &error)) return hub_failed(failure, error);
  }
  return hub_empty_answer(response, 204, effects);
}
