#include "hub_module.h"

// The bindings expect an object file with the component's type; `hub module build` adds the type instead.
void __component_type_object_force_link_hub(void) {}

void hub_fail(const char *why) {
  hub_error(hub_text(why));
  __builtin_trap();
}

hub_string_t hub_text(const char *literal) { return (hub_string_t){(uint8_t *)literal, strlen(literal)}; }

bool hub_equal(hub_string_t a, hub_string_t b) { return a.len == b.len && memcmp(a.ptr, b.ptr, a.len) == 0; }

static uint8_t lower(uint8_t byte) { return byte >= 'A' && byte <= 'Z' ? byte + ('a' - 'A') : byte; }

bool hub_equal_ignoring_case(hub_string_t a, hub_string_t b) {
  if (a.len != b.len) return false;
  for (size_t at = 0; at < a.len; at++) {
    if (lower(a.ptr[at]) != lower(b.ptr[at])) return false;
  }
  return true;
}

hub_string_t hub_concat(hub_string_t first, hub_string_t second) {
  uint8_t *joined = malloc(first.len + second.len);
  memcpy(joined, first.ptr, first.len);
  memcpy(joined + first.len, second.ptr, second.len);
  return (hub_string_t){joined, first.len + second.len};
}

hub_string_t hub_join(const char *before, hub_string_t middle, const char *after) {
  size_t first = strlen(before), last = strlen(after);
  uint8_t *joined = malloc(first + middle.len + last);
  memcpy(joined, before, first);
  memcpy(joined + first, middle.ptr, middle.len);
  memcpy(joined + first + middle.len, after, last);
  return (hub_string_t){joined, first + middle.len + last};
}

hub_string_t hub_decimal(int64_t number) {
  uint8_t digits[20], *at = digits + sizeof digits;
  uint64_t rest = number < 0 ? -(uint64_t)number : (uint64_t)number;
  do *--at = '0' + rest % 10;
  while ((rest /= 10) > 0);
  hub_string_t text = {at, digits + sizeof digits - at};
  return hub_join(number < 0 ? "-" : "", text, "");
}

bool hub_whole(hub_string_t text, int64_t *number) {
  bool negative = text.len > 0 && text.ptr[0] == '-';
  uint64_t read = 0, most = (uint64_t)INT64_MAX + negative;
  if (text.len == negative) return false;
  for (size_t at = negative; at < text.len; at++) {
    uint8_t digit = text.ptr[at] - '0';
    if (digit > 9 || read > (most - digit) / 10) return false;
    read = read * 10 + digit;
  }
  *number = (int64_t)(negative ? -read : read);
  return true;
}

size_t hub_length(hub_string_t text) {
  size_t length = 0;
  for (size_t at = 0; at < text.len; at++) length += (text.ptr[at] & 0xc0) != 0x80;
  return length;
}

void hub_debug(hub_string_t message) { hub_log_write(HUB_LOG_LEVEL_DEBUG, &message); }
void hub_info(hub_string_t message) { hub_log_write(HUB_LOG_LEVEL_INFO, &message); }
void hub_warn(hub_string_t message) { hub_log_write(HUB_LOG_LEVEL_WARN, &message); }
void hub_error(hub_string_t message) { hub_log_write(HUB_LOG_LEVEL_ERROR, &message); }

hub_string_t hub_describe(hub_host_error_t error) {
  switch (error.tag) {
    case HUB_HOST_ERROR_INVALID: return error.val.invalid;
    case HUB_HOST_ERROR_QUOTA_EXCEEDED: return hub_text("the module's key-value store is full");
#ifdef HUB_HOST_ERROR_FORBIDDEN  // Since contract 1.1.
    case HUB_HOST_ERROR_FORBIDDEN: return hub_text("a scope for reading is not granted");
#endif
    default: return hub_text("the hub could not reach its data in time");
  }
}

bool hub_contains(hub_list_string_t list, hub_string_t text) {
  for (size_t at = 0; at < list.len; at++) {
    if (hub_equal(list.ptr[at], text)) return true;
  }
  return false;
}

static void sift(uint64_t *numbers, size_t at, size_t count) {
  for (size_t child; (child = 2 * at + 1) < count; at = child) {
    if (child + 1 < count && numbers[child + 1] > numbers[child]) child++;
    if (numbers[at] >= numbers[child]) return;
    uint64_t larger = numbers[child];
    numbers[child] = numbers[at];
    numbers[at] = larger;
  }
}

// Heapsort: in place, without a slow case.
void hub_sort(uint64_t *numbers, size_t count) {
  for (size_t at = count / 2; at-- > 0;) sift(numbers, at, count);
  while (count > 1) {
    count--;
    uint64_t largest = numbers[0];
    numbers[0] = numbers[count];
    numbers[count] = largest;
    sift(numbers, 0, count);
  }
}

// SplitMix64.
uint64_t hub_random(uint64_t *state) {
  uint64_t mixed = *state += 0x9e3779b97f4a7c15;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return mixed ^ (mixed >> 31);
}
