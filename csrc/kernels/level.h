/* level.h: which instruction set the kernels use. */
#ifndef DT_LEVEL_H
#define DT_LEVEL_H

/* The level of this machine: an index into the tables that levels.h makes. 0 runs
 * everywhere; on x86-64, 1 has AVX2, FMA and F16C, 2 has AVX-512. */
int dt_level(void);

/* Lets this process use a level that is not above that of the machine (for tests); a
 * negative one: the best. Returns the one that is used now. */
int dt_level_set(int level);

#endif
