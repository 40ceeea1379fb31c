/* Any bytes as a header: no crash, no read outside, and what is taken keeps its
 * promises.
 *
 * The first eight bytes are the number of bytes of data. */
#include "core/format/safetensors.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void
demand(int condition)
{
    if (!condition)
        abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    int64_t data_bytes;
    dt_safetensors file;
    dt_error err;
    if (bytes < sizeof data_bytes)
        return 0;
    memcpy(&data_bytes, data, sizeof data_bytes);
    const char *header = (const char *)data + sizeof data_bytes;
    size_t header_bytes = bytes - sizeof data_bytes;
    if (dt_safetensors_parse(&file, header, header_bytes, data_bytes, &err) != DT_OK) {
        demand(err.message[0] != '\0');
        return 0;
    }
    int64_t place = 0;
    size_t texts = 0;
    for (int64_t k = 0; k < file.tensor_count; k++) {
        const dt_stored *tensor = &file.tensors[k];
        demand(tensor->begin == place && tensor->end >= place);
        demand(tensor->ndim >= 0 && tensor->ndim <= DT_MAX_NDIM);
        place = tensor->end;
        texts += tensor->name.bytes;
    }
    for (int64_t k = 0; k < file.note_count; k++)
        texts += file.notes[k].key.bytes + file.notes[k].value.bytes;
    demand(place == data_bytes && texts <= header_bytes);
    dt_safetensors_free(&file);
    return 0;
}
