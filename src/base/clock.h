/* clock.h - time in microseconds. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>

int64_t clock_mono_us(void); /* never goes back; zero is arbitrary */
int64_t clock_wall_us(void); /* since 1970-01-01T00:00:00Z */
int64_t clock_cpu_us(void);  /* user + system time of this process so far */

#endif
