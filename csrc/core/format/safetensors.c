/* safetensors.c: a cursor goes through the header once; texts are decoded into one
 * block of its length, for no escape is shorter than what it stands for. */
#include "core/format/safetensors.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The format's element types and their lengths in bits. */
static const struct {
    const char *name;
    int bits;
} DTYPES[] = {
    {"BOOL", 8},        {"F4", 4},   {"F6_E2M3", 6},     {"F6_E3M2", 6},
    {"U8", 8},          {"I8", 8},   {"F8_E5M2", 8},     {"F8_E4M3", 8},
    {"F8_E8M0", 8},     {"I16", 16}, {"F8_E4M3FNUZ", 8}, {"U16", 16},
    {"F8_E5M2FNUZ", 8}, {"F16", 16}, {"BF16", 16},       {"I32", 32},
    {"U32", 32},        {"F32", 32}, {"C64", 64},        {"F64", 64},
    {"I64", 64},        {"U64", 64},
};

typedef struct {
    const unsigned char *begin, *at, *end;
    char *text; /* where the next decoded byte goes */
    dt_error *err;
} cursor;

static dt_status
wrong(const cursor *c, const char *what)
{
    return dt_fail(c->err, DT_VALUE, "the header has %s at byte %td", what,
                   c->at - c->begin);
}

/* --- tokens --- */

static void
skip_blanks(cursor *c)
{
    while (c->at < c->end && *c->at != '\0' && strchr(" \t\n\r", *c->at) != NULL)
        c->at++;
}

/* Whether the next token is this character, which is then behind the cursor. */
static bool
take(cursor *c, char token)
{
    skip_blanks(c);
    if (c->at == c->end || *c->at != (unsigned char)token)
        return false;
    c->at++;
    return true;
}

static dt_status
expect(cursor *c, char token)
{
    char what[] = "no '?' where one belongs";
    what[4] = token;
    return take(c, token) ? DT_OK : wrong(c, what);
}

static dt_status
take_integer(int64_t *out, cursor *c)
{
    int64_t value = 0;
    skip_blanks(c);
    const unsigned char *first = c->at;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *c->at - '0', &value))
            return wrong(c, "a number of more than 63 bits");
    if (c->at == first || (*first == '0' && c->at > first + 1))
        return wrong(c, "no plain number where one belongs");
    *out = value;
    return DT_OK;
}

/* Four digits of an escape; -1 if there are none. */
static int32_t
take_hex(cursor *c)
{
    int32_t value = 0;
    if (c->end - c->at < 4)
        return -1;
    for (int k = 0; k < 4; k++, c->at++) {
        static const char digits[] = "0123456789abcdef0123456789ABCDEF";
        const char *digit = *c->at != '\0' ? strchr(digits, *c->at) : NULL;
        if (digit == NULL)
            return -1;
        value = value * 16 + (int32_t)((digit - digits) % 16);
    }
    return value;
}

/* The length of the UTF-8 sequence at the cursor, 0 if it is none (Unicode 15, table
 * 3-7: no surrogates, nothing longer than it must be, nothing above U+10FFFF). */
static int
sequence_length(const cursor *c)
{
    const unsigned char *s = c->at;
    int length = s[0] < 0x80   ? 1
                 : s[0] < 0xc2 ? 0
                 : s[0] < 0xe0 ? 2
                 : s[0] < 0xf0 ? 3
                               : 4;
    if (length == 0 || s[0] > 0xf4 || c->end - s < length)
        return 0;
    for (int k = 1; k < length; k++)
        if ((s[k] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return length;
}

static void
put_code_point(cursor *c, int32_t code)
{
    if (code < 0x80) {
        *c->text++ = (char)code;
        return;
    }
    int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const int lead[] = {0, 0xc0, 0xe0, 0xf0};
    *c->text++ = (char)(lead[more] | code >> 6 * more);
    while (more-- > 0)
        *c->text++ = (char)(0x80 | (code >> 6 * more & 0x3f));
}

/* What follows a backslash. */
static dt_status
take_escape(cursor *c)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    if (c->at == c->end || *c->at == '\0')
        return wrong(c, "half an escape");
    const char *name = strchr(names, *c->at);
    if (name != NULL) {
        c->at++;
        *c->text++ = values[name - names];
        return DT_OK;
    }
    if (*c->at++ != 'u')
        return wrong(c, "an escape that JSON does not have");
    int32_t code = take_hex(c);
    if (code >= 0xd800 && code < 0xdc00) { /* the first half of a pair */
        bool pair = c->end - c->at >= 2 && c->at[0] == '\\' && c->at[1] == 'u';
        c->at += pair ? 2 : 0;
        int32_t low = pair ? take_hex(c) : -1;
        code = low >= 0xdc00 && low < 0xe000
                   ? 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00)
                   : -1;
    } else if (code >= 0xdc00 && code < 0xe000) {
        code = -1;
    }
    if (code < 0)
        return wrong(c, "an escape that is no character");
    put_code_point(c, code);
    return DT_OK;
}

static dt_status
take_text(dt_text *out, cursor *c)
{
    DT_TRY(expect(c, '"'));
    char *first = c->text;
    while (c->at < c->end && *c->at != '"') {
        if (*c->at < 0x20)
            return wrong(c, "a control character in a text");
        if (*c->at == '\\') {
            c->at++;
            DT_TRY(take_escape(c));
            continue;
        }
        int length = sequence_length(c);
        if (length == 0)
            return wrong(c, "what is not UTF-8");
        memcpy(c->text, c->at, (size_t)length);
        c->text += length;
        c->at += length;
    }
    if (c->at == c->end)
        return wrong(c, "a text without an end");
    c->at++;
    *out = (dt_text){first, (size_t)(c->text - first)};
    return DT_OK;
}

static bool
is(dt_text text, const char *word)
{
    return text.bytes == strlen(word) && memcmp(text.text, word, text.bytes) == 0;
}

/* The key of the next member of an object, of which `count` have been read; *more is
 * false at its end. */
static dt_status
take_key(bool *more, dt_text *key, cursor *c, int64_t count)
{
    *more = !take(c, '}');
    if (!*more)
        return DT_OK;
    if (count > 0)
        DT_TRY(expect(c, ','));
    DT_TRY(take_text(key, c));
    return expect(c, ':');
}

/* --- what the header holds --- */

static dt_status
take_dtype(int *row, cursor *c)
{
    dt_text name;
    DT_TRY(take_text(&name, c));
    for (size_t k = 0; k < sizeof DTYPES / sizeof *DTYPES; k++)
        if (is(name, DTYPES[k].name)) {
            *row = (int)k;
            return DT_OK;
        }
    return wrong(c, "a dtype that the format does not have");
}

/* A list of up to `most` numbers. */
static dt_status
take_list(int *count, int64_t *values, int most, cursor *c)
{
    *count = 0;
    DT_TRY(expect(c, '['));
    while (!take(c, ']')) {
        if (*count > 0)
            DT_TRY(expect(c, ','));
        if (*count == most)
            return wrong(c, "a list that is too long");
        DT_TRY(take_integer(&values[(*count)++], c));
    }
    return DT_OK;
}

static dt_status
check_size(const cursor *c, const dt_stored *tensor, int bits)
{
    int64_t size = bits;
    for (int d = 0; d < tensor->ndim; d++)
        if (tensor->shape[d] == 0)
            size = 0; /* whatever the others are */
    for (int d = 0; d < tensor->ndim && size > 0; d++)
        if (__builtin_mul_overflow(size, tensor->shape[d], &size))
            return wrong(c, "a tensor of more than 63 bits of bits before here");
    if (size % 8 != 0 || tensor->end < tensor->begin ||
        tensor->end - tensor->begin != size / 8)
        return wrong(c, "offsets that do not fit shape and dtype before here");
    return DT_OK;
}

static dt_status
take_tensor(dt_stored *tensor, cursor *c, dt_bump *shapes)
{
    static const char *const fields[] = {"dtype", "shape", "data_offsets"};
    int64_t shape[DT_MAX_NDIM], offsets[2] = {0};
    int seen = 0, row = 0, offset_count = 0;
    dt_text key;
    DT_TRY(expect(c, '{'));
    for (int count = 0;; count++) {
        bool more;
        DT_TRY(take_key(&more, &key, c, count));
        if (!more)
            break;
        int field = 0;
        while (field < 3 && !is(key, fields[field]))
            field++;
        if (field == 3 || (seen & 1 << field) != 0)
            return wrong(c, "a field that a tensor does not have, or twice,");
        seen |= 1 << field;
        DT_TRY(field == 0   ? take_dtype(&row, c)
               : field == 1 ? take_list(&tensor->ndim, shape, DT_MAX_NDIM, c)
                            : take_list(&offset_count, offsets, 2, c));
    }
    if (seen != 7 || offset_count != 2)
        return wrong(c, "a tensor that lacks a field before here");
    int64_t *kept = dt_bump_take(shapes, (size_t)tensor->ndim + 1, sizeof *kept);
    if (kept == NULL)
        return dt_fail(c->err, DT_MEMORY, "no memory for a header");
    memcpy(kept, shape, (size_t)tensor->ndim * sizeof *kept);
    tensor->shape = kept;
    tensor->dtype = DTYPES[row].name;
    tensor->begin = offsets[0];
    tensor->end = offsets[1];
    return check_size(c, tensor, DTYPES[row].bits);
}

/* Room for one more item of a list that grows. */
static dt_status
grow(void **items, int64_t *room, int64_t count, size_t size, dt_error *err)
{
    if (count < *room)
        return DT_OK;
    int64_t wanted = count < 8 ? 8 : 2 * count;
    void *larger = realloc(*items, (size_t)wanted * size);
    if (larger == NULL)
        return dt_fail(err, DT_MEMORY, "no memory for a header");
    *items = larger;
    *room = wanted;
    return DT_OK;
}

static dt_status
take_notes(dt_safetensors *file, cursor *c)
{
    DT_TRY(expect(c, '{'));
    for (;;) {
        bool more;
        dt_note note;
        DT_TRY(take_key(&more, &note.key, c, file->note_count));
        if (!more)
            return DT_OK;
        DT_TRY(take_text(&note.value, c));
        DT_TRY(grow((void **)&file->notes, &file->note_room, file->note_count,
                    sizeof note, c->err));
        file->notes[file->note_count++] = note;
    }
}

static dt_status
take_header(dt_safetensors *file, cursor *c)
{
    bool noted = false;
    if (c->at == c->end || *c->at != '{') /* the format allows no blank before it */
        return wrong(c, "no '{' where one belongs");
    c->at++;
    for (int64_t count = 0;; count++) {
        bool more;
        dt_stored tensor = {0};
        DT_TRY(take_key(&more, &tensor.name, c, count));
        if (!more)
            break;
        if (is(tensor.name, "__metadata__")) {
            if (noted)
                return wrong(c, "a second \"__metadata__\"");
            noted = true;
            DT_TRY(take_notes(file, c));
            continue;
        }
        DT_TRY(take_tensor(&tensor, c, &file->shapes));
        DT_TRY(grow((void **)&file->tensors, &file->tensor_room, file->tensor_count,
                    sizeof tensor, c->err));
        file->tensors[file->tensor_count++] = tensor;
    }
    skip_blanks(c);
    return c->at == c->end ? DT_OK : wrong(c, "more than an object");
}

/* --- what must hold of all together --- */

static int
compare_texts(const dt_text *a, const dt_text *b)
{
    size_t both = a->bytes < b->bytes ? a->bytes : b->bytes;
    int order = both > 0 ? memcmp(a->text, b->text, both) : 0;
    return order != 0 ? order : (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

static int
by_name(const void *a, const void *b)
{
    return compare_texts(&((const dt_stored *)a)->name, &((const dt_stored *)b)->name);
}

static int
by_key(const void *a, const void *b)
{
    return compare_texts(&((const dt_note *)a)->key, &((const dt_note *)b)->key);
}

/* Those without data come first among those that begin at one place. */
static int
by_place(const void *x, const void *y)
{
    const dt_stored *a = x, *b = y;
    int order = (a->begin > b->begin) - (a->begin < b->begin);
    return order != 0 ? order : (a->end > b->end) - (a->end < b->end);
}

static dt_status
twice(dt_text name, dt_error *err)
{
    return dt_fail(err, DT_VALUE, "the header has \"%.*s\" twice",
                   (int)(name.bytes < 200 ? name.bytes : 200), name.text);
}

/* Sorts the items; DT_VALUE if a name is there twice. */
static dt_status
check_names(dt_safetensors *file, dt_error *err)
{
    if (file->note_count > 0)
        qsort(file->notes, (size_t)file->note_count, sizeof *file->notes, by_key);
    for (int64_t k = 1; k < file->note_count; k++)
        if (by_key(&file->notes[k - 1], &file->notes[k]) == 0)
            return twice(file->notes[k].key, err);
    if (file->tensor_count > 0)
        qsort(file->tensors, (size_t)file->tensor_count, sizeof *file->tensors,
              by_name);
    for (int64_t k = 1; k < file->tensor_count; k++)
        if (by_name(&file->tensors[k - 1], &file->tensors[k]) == 0)
            return twice(file->tensors[k].name, err);
    return DT_OK;
}

/* The tensors tile the data. */
static dt_status
check_places(dt_safetensors *file, int64_t data_bytes, dt_error *err)
{
    int64_t place = 0;
    if (file->tensor_count > 0)
        qsort(file->tensors, (size_t)file->tensor_count, sizeof *file->tensors,
              by_place);
    for (int64_t k = 0; k < file->tensor_count; k++) {
        if (file->tensors[k].begin != place)
            return dt_fail(err, DT_VALUE,
                           "a tensor begins at byte %" PRId64
                           " of the data, where the ones before it end at %" PRId64,
                           file->tensors[k].begin, place);
        place = file->tensors[k].end;
    }
    if (place != data_bytes)
        return dt_fail(err, DT_VALUE,
                       "the tensors have %" PRId64 " bytes, the file has %" PRId64
                       " bytes of data",
                       place, data_bytes);
    return DT_OK;
}

static dt_status
parse(dt_safetensors *file, cursor *c, int64_t data_bytes)
{
    DT_TRY(take_header(file, c));
    DT_TRY(check_names(file, c->err));
    return check_places(file, data_bytes, c->err);
}

dt_status
dt_safetensors_parse(dt_safetensors *out, const char *header, size_t bytes,
                     int64_t data_bytes, dt_error *err)
{
    if (bytes > DT_SAFETENSORS_MOST)
        return dt_fail(err, DT_VALUE, "a header of %zu bytes: %d are allowed", bytes,
                       DT_SAFETENSORS_MOST);
    const unsigned char *begin = (const unsigned char *)header;
    dt_safetensors file = {.texts = malloc(bytes + 1)};
    if (file.texts == NULL)
        return dt_fail(err, DT_MEMORY, "no memory for a header of %zu bytes", bytes);
    cursor c = {begin, begin, begin + bytes, file.texts, err};
    dt_status status = parse(&file, &c, data_bytes);
    if (status == DT_OK)
        *out = file;
    else
        dt_safetensors_free(&file);
    return status;
}

void
dt_safetensors_free(dt_safetensors *file)
{
    free(file->tensors);
    free(file->notes);
    free(file->texts);
    dt_bump_free(&file->shapes);
}
