#include "hub_endpoints.h"

static bool find(hub_list_tuple2_string_string_t pairs, const char *name, hub_string_t *value) {
  for (size_t at = 0; at < pairs.len; at++) {
    if (!hub_equal(pairs.ptr[at].f0, hub_text(name))) continue;
    *value = pairs.ptr[at].f1;
    return true;
  }
  return false;
}

hub_string_t hub_parameter(exports_endpoints_request_t *request, const char *name) {
  hub_string_t value = {NULL, 0};
  find(request->parameters, name, &value);
  return value;
}

bool hub_query(exports_endpoints_request_t *request, const char *name, hub_string_t *value) {
  return find(request->query, name, value);
}

bool hub_header(exports_endpoints_request_t *request, const char *name, hub_string_t *value) {
  return find(request->headers, name, value);
}

hub_string_t hub_body(exports_endpoints_request_t *request) {
  return (hub_string_t){request->body.ptr, request->body.len};
}

void hub_add_header(exports_endpoints_response_t *response, const char *name, hub_string_t value) {
  hub_list_tuple2_string_string_t *headers = &response->headers;
  headers->ptr = realloc(headers->ptr, (headers->len + 1) * sizeof *headers->ptr);
  headers->ptr[headers->len++] = (hub_tuple2_string_string_t){hub_text(name), value};
}

static bool answer(exports_endpoints_response_t *response, uint16_t status, const char *type, hub_string_t body,
                   hub_effects_t effects) {
  *response = (exports_endpoints_response_t){.status = status, .body = {body.ptr, body.len}};
  if (type != NULL) hub_add_header(response, "content-type", hub_text(type));
  return hub_done(&response->effects, effects);
}

bool hub_json_answer(exports_endpoints_response_t *response, uint16_t status, hub_string_t json,
                     hub_effects_t effects) {
  return answer(response, status, "application/json", json, effects);
}

bool hub_text_answer(exports_endpoints_response_t *response, uint16_t status, hub_string_t text,
                     hub_effects_t effects) {
  return answer(response, status, "text/plain; charset=utf-8", text, effects);
}

bool hub_error_answer(exports_endpoints_response_t *response, uint16_t status, const char *code, const char *message) {
  hub_string_t named = hub_join("{\"error\":", hub_json_text(hub_text(message)), ",\"code\":");
  hub_string_t json = hub_concat(named, hub_join("", hub_json_text(hub_text(code)), "}"));
  return hub_json_answer(response, status, json, (hub_effects_t){0});
}

bool hub_empty_answer(exports_endpoints_response_t *response, uint16_t status, hub_effects_t effects) {
  return answer(response, status, NULL, (hub_string_t){NULL, 0}, effects);
}
