// Polite: masks words, and refuses a line that its sender repeats.
#include "hub_module.h"

// ASCII letters and digits, and all other characters.
static bool is_in_word(uint8_t byte) {
  return byte >= 0x80 || (byte >= '0' && byte <= '9') || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z');
}

static bool is_listed(hub_list_string_t words, hub_string_t word) {
  for (size_t at = 0; at < words.len; at++) {
    if (hub_equal_ignoring_case(words.ptr[at], word)) return true;
  }
  return false;
}

// The message with stars for each character of a listed word.
static hub_string_t mask(hub_string_t message, hub_list_string_t words) {
  hub_string_t masked = {malloc(message.len), 0};
  for (size_t at = 0; at < message.len;) {
    size_t start = at;
    while (at < message.len && is_in_word(message.ptr[at])) at++;
    hub_string_t word = {message.ptr + start, at - start};
    if (word.len > 0 && is_listed(words, word)) {
      size_t stars = hub_length(word);
      memset(masked.ptr + masked.len, '*', stars);
      masked.len += stars;
    } else {
      memcpy(masked.ptr + masked.len, word.ptr, word.len);
      masked.len += word.len;
    }
    if (at < message.len) masked.ptr[masked.len++] = message.ptr[at++];
  }
  return masked;
}

// True if the line repeats the last one; if not, remembers it.
static bool is_repeated(hub_string_t uuid, hub_string_t message, uint64_t repeat_ms) {
  hub_string_t key = hub_join("last:", uuid, "");
  hub_option_string_t last;
  hub_store_host_error_t error;
  if (hub_store_get(&key, &last, &error)) {
    if (last.is_some && hub_equal(last.val, message)) return true;
    if (hub_store_set(&key, &message, &repeat_ms, &error)) return false;
  }
  hub_warn(hub_join("the store can't be reached: ", hub_describe(error), ""));
  return false;
}

void exports_chat_filter(exports_chat_call_context_t *context, exports_chat_line_t *line,
                         exports_chat_verdict_t *verdict) {
  hub_config_fields(context->config, "words", "repeatMs", NULL);
  // Masked where they stand alone, in any case of a to z.
  hub_list_string_t words = hub_config_texts(context->config, "words");
  // Time for which a line may not be repeated; 0 allows it at once.
  uint64_t repeat_ms = hub_config_whole(context->config, "repeatMs", 5000);

  verdict->mute.is_some = false;
  if (repeat_ms > 0 && is_repeated(line->player.uuid, line->message, repeat_ms)) {
    hub_info(hub_join("refused a repeated line of ", line->player.name, ""));
    verdict->decision.tag = EXPORTS_CHAT_DECISION_REFUSE;
    verdict->decision.val.refuse = hub_text("You said that already.");
    return;
  }
  hub_string_t polite = mask(line->message, words);
  if (hub_equal(polite, line->message)) {
    verdict->decision.tag = EXPORTS_CHAT_DECISION_ALLOW;
    return;
  }
  hub_info(hub_join("masked words of ", line->player.name, ""));
  verdict->decision.tag = EXPORTS_CHAT_DECISION_REWRITE;
  verdict->decision.val.rewrite = polite;
}
