/* crc32c.h: the checksum of checkpoints: CRC-32C (Castagnoli; RFC 3720, appendix B.4).
 */
#ifndef DT_CRC32C_H
#define DT_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* The checksum of `bytes` bytes behind those whose checksum is `crc`; 0 is that of
 * none:
 *
 *     dt_crc32c(0, "123456789", 9) == 0xe3069283
 *     dt_crc32c(dt_crc32c(0, "1234", 4), "56789", 5) == 0xe3069283
 */
uint32_t dt_crc32c(uint32_t crc, const void *data, size_t bytes);
/* The same where the processor has no instruction for it. */
uint32_t dt_crc32c_portable(uint32_t crc, const void *data, size_t bytes);

/* What the checksum `crc` of some bytes adds to the checksum of a whole in which
 * `bytes` bytes follow: the exclusive or over all parts of a whole is its checksum, so
 * that everybody may compute his part alone, in about a microsecond for any length:
 *
 *     dt_crc32c_shift(dt_crc32c(0, "1234", 4), 5) ^ dt_crc32c(0, "56789", 5)
 *         == 0xe3069283
 */
uint32_t dt_crc32c_shift(uint32_t crc, uint64_t bytes);

#endif
