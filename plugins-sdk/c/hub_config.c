// Reads the configuration and other JSON objects, whose syntax the hub has checked.
#include "hub_module.h"
#include <stdarg.h>

typedef struct {
  const uint8_t *at, *end;
} reader_t;

static _Noreturn void wrong(const char *field, const char *what) {
  hub_error(hub_join("the module's configuration is wrong: `", hub_text(field), what));
  __builtin_trap();
}

static uint8_t peek(reader_t *reader) {
  while (reader->at < reader->end && *reader->at <= ' ') reader->at++;
  return reader->at < reader->end ? *reader->at : 0;
}

static bool skip(reader_t *reader, uint8_t byte) {
  if (peek(reader) != byte) return false;
  reader->at++;
  return true;
}

static uint32_t four_hex(reader_t *reader) {
  uint32_t value = 0;
  for (int digit = 0; digit < 4 && reader->at < reader->end; digit++) {
    uint8_t byte = *reader->at++;
    value = value * 16 + (byte <= '9' ? byte - '0' : (byte | 0x20) - 'a' + 10);
  }
  return value;
}

static uint8_t *put_character(uint8_t *to, uint32_t character) {
  if (character < 0x80) {
    *to++ = character;
  } else if (character < 0x800) {
    *to++ = 0xc0 | character >> 6;
    *to++ = 0x80 | (character & 0x3f);
  } else if (character < 0x10000) {
    *to++ = 0xe0 | character >> 12;
    *to++ = 0x80 | (character >> 6 & 0x3f);
    *to++ = 0x80 | (character & 0x3f);
  } else {
    *to++ = 0xf0 | character >> 18;
    *to++ = 0x80 | (character >> 12 & 0x3f);
    *to++ = 0x80 | (character >> 6 & 0x3f);
    *to++ = 0x80 | (character & 0x3f);
  }
  return to;
}

static uint32_t escaped(reader_t *reader) {
  uint8_t kind = *reader->at++;
  switch (kind) {
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'u': break;
    default: return kind;
  }
  uint32_t character = four_hex(reader);
  if (character >= 0xd800 && character < 0xdc00 && reader->end - reader->at >= 6) {
    reader->at += 2;
    character = 0x10000 + ((character - 0xd800) << 10) + (four_hex(reader) - 0xdc00);
  }
  return character;
}

static hub_string_t text(reader_t *reader) {
  skip(reader, '"');
  uint8_t *start = malloc(reader->end - reader->at), *to = start;
  while (reader->at < reader->end && *reader->at != '"') {
    if (*reader->at != '\\') {
      *to++ = *reader->at++;
      continue;
    }
    reader->at++;
    to = put_character(to, escaped(reader));
  }
  skip(reader, '"');
  return (hub_string_t){start, to - start};
}

static void skip_value(reader_t *reader) {
  uint32_t depth = 0;
  do {
    switch (peek(reader)) {
      case '"': text(reader); break;
      case '{':
      case '[': depth++; reader->at++; break;
      case '}':
      case ']': depth--; reader->at++; break;
      case ',':
      case ':': reader->at++; break;
      default:
        while (reader->at < reader->end && *reader->at > ' ' && *reader->at != ',' && *reader->at != '}' &&
               *reader->at != ']') {
          reader->at++;
        }
    }
  } while (depth > 0 && reader->at < reader->end);
}

// Moves to the next field of the object.
static bool next_field(reader_t *reader, hub_string_t *name) {
  skip(reader, '{');
  skip(reader, ',');
  if (peek(reader) != '"') return false;
  *name = text(reader);
  skip(reader, ':');
  return true;
}

// Finds a field's value.
static bool find(hub_string_t config, const char *field, reader_t *value) {
  *value = (reader_t){config.ptr, config.ptr + config.len};
  for (hub_string_t name; next_field(value, &name); skip_value(value)) {
    if (hub_equal(name, hub_text(field))) return true;
  }
  return false;
}

void hub_config_fields(hub_string_t config, const char *first, ...) {
  reader_t reader = {config.ptr, config.ptr + config.len};
  for (hub_string_t name; next_field(&reader, &name); skip_value(&reader)) {
    bool known = false;
    va_list rest;
    va_start(rest, first);
    for (const char *field = first; field != NULL && !known; field = va_arg(rest, const char *)) {
      known = hub_equal(name, hub_text(field));
    }
    va_end(rest);
    if (!known) {
      hub_error(hub_join("the module's configuration is wrong: unknown field `", name, "`"));
      __builtin_trap();
    }
  }
}

static bool is_number(reader_t *value) {
  uint8_t first = peek(value);
  return first == '-' || (first >= '0' && first <= '9');
}

static double read_number(reader_t *value) {
  bool negative = skip(value, '-');
  double number = 0, divisor = 1;
  bool fraction = false;
  for (; value->at < value->end; value->at++) {
    if (*value->at == '.') {
      fraction = true;
    } else if (*value->at >= '0' && *value->at <= '9') {
      number = number * 10 + (*value->at - '0');
      if (fraction) divisor *= 10;
    } else {
      break;
    }
  }
  number /= divisor;
  if (value->at < value->end && (*value->at | 0x20) == 'e') {
    value->at++;
    bool shrinks = skip(value, '-');
    if (!shrinks) skip(value, '+');
    for (int exponent = 0;; value->at++) {
      if (value->at < value->end && *value->at >= '0' && *value->at <= '9') {
        exponent = exponent * 10 + (*value->at - '0');
        continue;
      }
      for (; exponent > 0; exponent--) number = shrinks ? number / 10 : number * 10;
      break;
    }
  }
  return negative ? -number : number;
}

double hub_config_number(hub_string_t config, const char *field, double otherwise) {
  reader_t value;
  if (!find(config, field, &value)) return otherwise;
  if (!is_number(&value)) wrong(field, "` must be a number");
  return read_number(&value);
}

uint64_t hub_config_whole(hub_string_t config, const char *field, uint64_t otherwise) {
  double number = hub_config_number(config, field, -1);
  reader_t value;
  if (!find(config, field, &value)) return otherwise;
  if (number < 0 || number >= 9007199254740992.0 || number != (double)(uint64_t)number) {
    wrong(field, "` must be a whole number, 0 or more");
  }
  return (uint64_t)number;
}

bool hub_config_bool(hub_string_t config, const char *field, bool otherwise) {
  reader_t value;
  if (!find(config, field, &value)) return otherwise;
  uint8_t first = peek(&value);
  if (first != 't' && first != 'f') wrong(field, "` must be true or false");
  return first == 't';
}

hub_string_t hub_config_text(hub_string_t config, const char *field, const char *otherwise) {
  reader_t value;
  if (!find(config, field, &value)) return hub_text(otherwise);
  if (peek(&value) != '"') wrong(field, "` must be a text");
  return text(&value);
}

hub_list_string_t hub_config_texts(hub_string_t config, const char *field) {
  hub_list_string_t list = {NULL, 0};
  reader_t value;
  if (!find(config, field, &value)) return list;
  if (!skip(&value, '[')) wrong(field, "` must be a list of texts");
  size_t room = 0;
  while (peek(&value) != ']') {
    if (peek(&value) != '"') wrong(field, "` must be a list of texts");
    if (list.len == room) {
      room = room * 2 + 8;
      list.ptr = realloc(list.ptr, room * sizeof *list.ptr);
    }
    list.ptr[list.len++] = text(&value);
    skip(&value, ',');
  }
  return list;
}

hub_string_t hub_data_text(hub_string_t data, const char *field, const char *otherwise) {
  reader_t value;
  return find(data, field, &value) && peek(&value) == '"' ? text(&value) : hub_text(otherwise);
}

double hub_data_number(hub_string_t data, const char *field, double otherwise) {
  reader_t value;
  return find(data, field, &value) && is_number(&value) ? read_number(&value) : otherwise;
}

bool hub_data_bool(hub_string_t data, const char *field, bool otherwise) {
  reader_t value;
  if (!find(data, field, &value)) return otherwise;
  uint8_t first = peek(&value);
  return first == 't' || (first != 'f' && otherwise);
}

hub_string_t hub_json_text(hub_string_t text) {
  static const char hex[] = "0123456789abcdef";
  uint8_t *start = malloc(text.len * 6 + 2), *to = start;
  *to++ = '"';
  for (size_t at = 0; at < text.len; at++) {
    uint8_t byte = text.ptr[at];
    if (byte < ' ') {
      const uint8_t escaped[] = {'\\', 'u', '0', '0', hex[byte >> 4], hex[byte & 15]};
      memcpy(to, escaped, sizeof escaped);
      to += sizeof escaped;
      continue;
    }
    if (byte == '"' || byte == '\\') *to++ = '\\';
    *to++ = byte;
  }
  *to++ = '"';
  return (hub_string_t){start, to - start};
}
