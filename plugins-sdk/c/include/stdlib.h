// What the bindings need of the C library; hub_module.c has it.
#pragma once
#include <stddef.h>

void *malloc(size_t size);
void *realloc(void *old, size_t size);
void free(void *memory);
_Noreturn void abort(void);
