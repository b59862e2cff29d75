/* "64GiB", "8M", "1.5GB", "250ms", "10 s" ↔ numbers.  Pure. */
#pragma once
#include "base/dl.h"

/* KiB, MiB, … are powers of 1024, KB, MB, … of 1000, K, M, … of 1024; B or nothing: bytes.
 * -EINVAL: not a size; -ERANGE: too large. */
int units_size(const char *text, uint64_t *ret) DL_MUST_CHECK;
int units_time(const char *text, uint64_t *ret_ns) DL_MUST_CHECK;       /* ns us ms s m h d */
/* Decimal digits, nothing else. */
int units_count(const char *text, uint64_t *ret) DL_MUST_CHECK;
/* "0.95", in millionths. */
int units_ratio(const char *text, uint64_t *ret) DL_MUST_CHECK;
/* The shortest exact form, e.g. "8MiB".  Returns buf. */
const char *units_print_size(uint64_t size, char buf[32]);
const char *units_print_time(uint64_t ns, char buf[32]);
const char *units_print_ratio(double ratio, char buf[32]);
/* For people: three digits, "7.45 GiB".  Returns buf. */
const char *units_human_size(uint64_t size, char buf[32]);
