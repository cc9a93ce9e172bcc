// The part of the C library that the bindings need.
#pragma once
#include <stddef.h>

void *malloc(size_t size);
void *realloc(void *old, size_t size);
void free(void *memory);
_Noreturn void abort(void);
