// Helpers for Network Hub modules in C, beside the bindings in hub.h.
//
// There is no C library and no file, clock or randomness: the time and a seed are in the call's context. Memory
// is reset after each call, so nothing has to be freed.
//
// Times are milliseconds since 1970 (UTC), durations milliseconds, UUIDs text in lower case with hyphens, texts UTF-8
// without a terminating zero.
#pragma once
#include "hub.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// Logs the text as an error and ends the call as failed.
_Noreturn void hub_fail(const char *why);

// ---- Texts ----

// A literal as a text.
hub_string_t hub_text(const char *literal);

bool hub_equal(hub_string_t a, hub_string_t b);

// The same but for the case of a to z.
bool hub_equal_ignoring_case(hub_string_t a, hub_string_t b);

// A new text, concatenated from the three parts.
hub_string_t hub_join(const char *before, hub_string_t middle, const char *after);

// A new text, concatenated from both.
hub_string_t hub_concat(hub_string_t first, hub_string_t second);

// A whole number as a text.
hub_string_t hub_decimal(int64_t number);

// Reads a whole number. False if the text is none.
bool hub_whole(hub_string_t text, int64_t *number);

// Number of characters of a text.
size_t hub_length(hub_string_t text);

// ---- Log ----

void hub_debug(hub_string_t message);
void hub_info(hub_string_t message);
void hub_warn(hub_string_t message);
void hub_error(hub_string_t message);

// Description of a host function's error, after it returned `false`.
hub_string_t hub_describe(hub_host_error_t error);

// ---- Configuration ----
// The owner's configuration is one JSON object, `{}` by default. A field of the wrong type ends the call as failed and
// logs the reason for the owner.

// Ends the call as failed if there is any field besides these. The last argument is NULL.
void hub_config_fields(hub_string_t config, const char *first, ...);

double hub_config_number(hub_string_t config, const char *field, double otherwise);

// A whole number, 0 or more.
uint64_t hub_config_whole(hub_string_t config, const char *field, uint64_t otherwise);

bool hub_config_bool(hub_string_t config, const char *field, bool otherwise);

hub_string_t hub_config_text(hub_string_t config, const char *field, const char *otherwise);

// A list of texts, empty by default.
hub_list_string_t hub_config_texts(hub_string_t config, const char *field);

// ---- JSON ----
// Fields of an event's data, or of another JSON object. One that is missing, null or of another type is `otherwise`.

hub_string_t hub_data_text(hub_string_t data, const char *field, const char *otherwise);

double hub_data_number(hub_string_t data, const char *field, double otherwise);

bool hub_data_bool(hub_string_t data, const char *field, bool otherwise);

// The text in quotes, for a document or payload.
hub_string_t hub_json_text(hub_string_t text);

// ---- Lists ----

// True if a text is in a list.
bool hub_contains(hub_list_string_t list, hub_string_t text);

// ---- Numbers ----

// Sorts, smallest first.
void hub_sort(uint64_t *numbers, size_t count);

// The next random number of a sequence that begins with `*state`, such as the context's seed.
uint64_t hub_random(uint64_t *state);
