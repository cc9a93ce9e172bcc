// A bump allocator that is reset after each call.
#include "hub_module.h"

extern unsigned char __heap_base;

enum { PAGE = 65536, HEADER = 8 };

static uintptr_t top;

void hub_forget(void) { top = 0; }

void abort(void) { __builtin_trap(); }

void *malloc(size_t size) {
  if (top == 0) top = ((uintptr_t)&__heap_base + 7) & ~(uintptr_t)7;
  if (size > SIZE_MAX / 2) abort();
  uintptr_t block = top + HEADER;
  top = (block + size + 7) & ~(uintptr_t)7;
  uintptr_t have = __builtin_wasm_memory_size(0) * PAGE;
  if (top > have && __builtin_wasm_memory_grow(0, (top - have + PAGE - 1) / PAGE) == SIZE_MAX) {
    hub_fail("out of memory");
  }
  *(size_t *)(block - HEADER) = size;
  return (void *)block;
}

void *realloc(void *old, size_t size) {
  if (old == NULL) return malloc(size);
  size_t had = *(size_t *)((uintptr_t)old - HEADER);
  if (size <= had) return old;
  return memcpy(malloc(size), old, had);
}

void free(void *memory) { (void)memory; }

void *memcpy(void *restrict to, const void *restrict from, size_t size) { return __builtin_memcpy(to, from, size); }

void *memmove(void *to, const void *from, size_t size) { return __builtin_memmove(to, from, size); }

void *memset(void *to, int byte, size_t size) { return __builtin_memset(to, byte, size); }

int memcmp(const void *a, const void *b, size_t size) {
  const unsigned char *left = a, *right = b;
  for (size_t at = 0; at < size; at++) {
    if (left[at] != right[at]) return left[at] < right[at] ? -1 : 1;
  }
  return 0;
}

size_t strlen(const char *text) {
  size_t length = 0;
  while (text[length] != 0) length++;
  return length;
}
