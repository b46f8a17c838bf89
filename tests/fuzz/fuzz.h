/* fuzz.h - what libFuzzer calls, and replay.c. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Returns 0; aborts where a property does not hold. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#endif
