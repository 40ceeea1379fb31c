#include "core/format/safetensors.h"

#include "core/format/crc32c.h"

#include "check.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- checksums --- */

static uint32_t
slowly(const unsigned char *data, size_t bytes)
{
    uint32_t crc = UINT32_MAX;
    for (size_t k = 0; k < bytes * 8; k++) {
        uint32_t bit = (crc ^ (uint32_t)(data[k / 8] >> k % 8)) & 1;
        crc = crc >> 1 ^ (bit ? UINT32_C(0x82f63b78) : 0);
    }
    return ~crc;
}

static void
the_checksum_is_crc_32c(void)
{
    CHECK(dt_crc32c(0, "123456789", 9) == UINT32_C(0xe3069283)); /* RFC 3720 */
    CHECK(dt_crc32c(0, NULL, 0) == 0);
    static unsigned char data[10000];
    uint64_t seed = 1;
    for (size_t k = 0; k < sizeof data; k++)
        data[k] = (unsigned char)check_random(&seed);
    for (int k = 0; k < 200; k++) {
        size_t start = (size_t)check_below(&seed, 9);
        size_t bytes = (size_t)check_below(&seed, k < 100 ? 30 : 9990);
        uint32_t crc = slowly(data + start, bytes);
        CHECK(dt_crc32c(0, data + start, bytes) == crc);
        CHECK(dt_crc32c_portable(0, data + start, bytes) == crc);
        size_t cut = (size_t)check_below(&seed, (int64_t)bytes + 1);
        uint32_t first = dt_crc32c(0, data + start, cut);
        CHECK(dt_crc32c(first, data + start + cut, bytes - cut) == crc);
    }
}

static void
parts_are_computed_alone_and_joined(void)
{
    unsigned char data[300];
    uint64_t seed = 2;
    for (size_t k = 0; k < sizeof data; k++)
        data[k] = (unsigned char)check_random(&seed);
    uint32_t whole = dt_crc32c(0, data, sizeof data);
    for (int k = 0; k < 100; k++) {
        uint32_t joined = 0;
        for (size_t at = 0; at < sizeof data;) {
            size_t bytes = 1 + (size_t)check_below(&seed, (int64_t)(sizeof data - at));
            uint32_t crc = dt_crc32c(0, data + at, bytes);
            at += bytes;
            joined ^= dt_crc32c_shift(crc, sizeof data - at);
        }
        CHECK(joined == whole);
    }
    /* A whole of terabytes: shifts add up. */
    uint64_t far = UINT64_C(1) << 40;
    CHECK(dt_crc32c_shift(dt_crc32c_shift(whole, far), 77) ==
          dt_crc32c_shift(whole, far + 77));
}

/* --- headers --- */

static dt_status
parse(dt_safetensors *file, const char *text, int64_t data_bytes, dt_error *err)
{
    return dt_safetensors_parse(file, text, strlen(text), data_bytes, err);
}

static bool
is(dt_text text, const char *word)
{
    return text.bytes == strlen(word) && memcmp(text.text, word, text.bytes) == 0;
}

static void
a_header_is_read(void)
{
    dt_safetensors file;
    const char *text =
        "{\"b\": {\"data_offsets\":[24 , 25],\"shape\":[],\"dtype\":\"BOOL\"},\n"
        "\"__metadata__\":{\"format\":\"pt\", \"a\":\"\"},"
        "\"w\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]},"
        "\"none\":{\"dtype\":\"BF16\",\"shape\":[0,9223372036854775807,"
        "9223372036854775807],\"data_offsets\":[24,24]}}   ";
    CHECK(parse(&file, text, 25, NULL) == DT_OK);
    CHECK(file.tensor_count == 3 && file.note_count == 2);
    CHECK(is(file.tensors[0].name, "w") && strcmp(file.tensors[0].dtype, "F32") == 0);
    CHECK(file.tensors[0].ndim == 2 && file.tensors[0].shape[0] == 2 &&
          file.tensors[0].shape[1] == 3);
    CHECK(is(file.tensors[1].name, "none") && file.tensors[1].begin == 24 &&
          file.tensors[1].end == 24);
    CHECK(is(file.tensors[2].name, "b") && file.tensors[2].ndim == 0 &&
          file.tensors[2].end == 25);
    CHECK(is(file.notes[0].key, "a") && is(file.notes[0].value, ""));
    CHECK(is(file.notes[1].key, "format") && is(file.notes[1].value, "pt"));
    dt_safetensors_free(&file);
    CHECK(parse(&file, "{}", 0, NULL) == DT_OK && file.tensor_count == 0);
    dt_safetensors_free(&file);
}

static void
texts_are_decoded(void)
{
    static const struct {
        const char *written, *meant;
    } rows[] = {
        {"a\\\"\\\\\\/\\b\\f\\n\\r\\t", "a\"\\/\b\f\n\r\t"},
        {"\\u0041\\u00e9\\u20AC\\ud83d\\ude00",
         "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
         "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"../../etc/passwd", "../../etc/passwd"},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char text[200];
        dt_safetensors file;
        snprintf(text, sizeof text, "{\"__metadata__\":{\"%s\":\"\"}}",
                 rows[k].written);
        CHECK(parse(&file, text, 0, NULL) == DT_OK);
        CHECK(is(file.notes[0].key, rows[k].meant));
        dt_safetensors_free(&file);
    }
}

#define TENSOR(name, dtype, shape, offsets)                                            \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape                           \
    ",\"data_offsets\":" offsets "}"
#define BYTE(offsets) TENSOR("x", "U8", "[1]", offsets)
#define NOTE(text) "{\"__metadata__\":{\"k\":\"" text "\"}}"

/* Headers that are no headers, in front of 8 bytes of data; and what the sentence has.
 */
static const struct {
    const char *text, *sentence;
} HOSTILE[] = {
    {"", "no '{'"},
    {" {}", "no '{'"},
    {"[]", "no '{'"},
    {"{", "no '\"'"},
    {"{}", "the file has 8 bytes of data"},
    {"{} x", "more than an object"},
    {"{}{}", "more than an object"},
    {"{\"a\"}", "no ':'"},
    {"{\"a\":1}", "no '{'"},
    {"{\"a\":[[[[[[[[[[", "no '{'"},
    {"{\"a\":{\"a\":{\"a\":{}}}}", "a field that a tensor does not have"},
    {"{\"__metadata__\":{\"a\":{}}}", "no '\"'"},
    {"{\"__metadata__\":{\"a\":null}}", "no '\"'"},
    {"{\"__metadata__\":{\"a\":\"\",\"\\u0061\":\"\"}}", "\"a\" twice"},
    {"{\"__metadata__\":{},\"__metadata__\":{}}", "a second"},
    {"{,}", "no '\"'"},
    {"{" TENSOR("x", "U8", "[8]", "[0,8]") ",}", "no '\"'"},
    {"{" TENSOR("x", "U8", "[8]", "[0,8]") TENSOR("y", "U8", "[0]", "[8,8]") "}",
     "no ','"},
    {"{" TENSOR("x", "U8", "[8]", "[0,8]") "," TENSOR("x", "U8", "[0]", "[8,8]") "}",
     "\"x\" twice"},
    {"{" TENSOR("x", "U8", "[8]", "[0,8]") "," TENSOR("\\u0078", "U8", "[0]",
                                                      "[8,8]") "}",
     "\"x\" twice"},
    {"{" TENSOR("x", "U8", "[9]", "[0,9]") "}", "the tensors have 9 bytes"},
    {"{" TENSOR("x", "U8", "[7]", "[0,7]") "}", "the tensors have 7 bytes"},
    {"{" TENSOR("x", "U8", "[7]", "[1,8]") "}", "begins at byte 1 "},
    {"{" TENSOR("x", "U8", "[8]", "[0,7]") "}", "do not fit shape"},
    {"{" TENSOR("x", "F32", "[8]", "[0,8]") "}", "do not fit shape"},
    {"{" TENSOR("x", "U8", "[8]", "[8,0]") "}", "do not fit shape"},
    {"{" TENSOR("x", "F4", "[15]", "[0,8]") "}", "do not fit shape"},
    {"{" TENSOR("x", "F128", "[1]", "[0,8]") "}", "a dtype that the format"},
    {"{" TENSOR("x", "U8", "[4294967296,4294967296]", "[0,0]") "}", "63 bits"},
    {"{" TENSOR("x", "U8", "[9223372036854775808]", "[0,8]") "}", "63 bits"},
    {"{" TENSOR("x", "U8", "[99999999999999999999999]", "[0,8]") "}", "63 bits"},
    {"{" TENSOR("x", "U8", "[-8]", "[0,8]") "}", "no plain number"},
    {"{" TENSOR("x", "U8", "[08]", "[0,8]") "}", "no plain number"},
    {"{" TENSOR("x", "U8", "[8.0]", "[0,8]") "}", "no ','"},
    {"{" TENSOR("x", "U8", "[8e0]", "[0,8]") "}", "no ','"},
    {"{" TENSOR("x", "U8", "[8,]", "[0,8]") "}", "no plain number"},
    {"{" TENSOR("x", "U8", "[[8]]", "[0,8]") "}", "no plain number"},
    {"{" TENSOR("x", "U8", "[8", "[0,8]") "}", "no plain number"},
    {"{" TENSOR("x", "U8", "8", "[0,8]") "}", "no '['"},
    {"{" TENSOR("x", "U8", "[8]", "[0,8,8]") "}", "too long"},
    {"{" TENSOR("x", "U8", "[8]", "[0]") "}", "lacks a field"},
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[8]}}", "lacks a field"},
    {"{\"x\":{\"dtype\":\"U8\",\"dtype\":\"U8\"}}", "or twice"},
    {"{" BYTE(
         "[0,1]") ",\"y\":{\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":[0,8]}}",
     "begins at byte 0 "},
    {NOTE("\\x41"), "an escape that JSON does not have"},
    {NOTE("\\u12g4"), "no character"},
    {NOTE("\\ud83d"), "no character"},
    {NOTE("\\ud83d\\u0041"), "no character"},
    {NOTE("\\ude00"), "no character"},
    {NOTE("\x01"), "a control character"},
    {NOTE("\x80"), "not UTF-8"},
    {NOTE("\xc0\x80"), "not UTF-8"},
    {NOTE("\xe0\x80\x80"), "not UTF-8"},
    {NOTE("\xed\xa0\x80"), "not UTF-8"},
    {NOTE("\xf0\x80\x80\x80"), "not UTF-8"},
    {NOTE("\xf4\x90\x80\x80"), "not UTF-8"},
    {NOTE("\xf5\x80\x80\x80"), "not UTF-8"},
    {NOTE("\xe2\x82"), "not UTF-8"},
    {"{\"__metadata__\":{\"k\":\"", "a text without an end"},
    {"{\"__metadata__\":{\"k\":\"\\", "half an escape"},
};

static void
hostile_headers_are_refused_with_a_sentence(void)
{
    for (size_t k = 0; k < sizeof HOSTILE / sizeof *HOSTILE; k++) {
        dt_safetensors file;
        dt_error err = {.status = DT_OK};
        dt_status status = parse(&file, HOSTILE[k].text, 8, &err);
        bool told = strstr(err.message, HOSTILE[k].sentence) != NULL;
        if (status != DT_VALUE || !told)
            printf("%s: %s\n", HOSTILE[k].text, err.message);
        CHECK(status == DT_VALUE && told);
    }
}

static void
a_dimension_too_many_is_refused(void)
{
    for (int ndim = DT_MAX_NDIM; ndim <= DT_MAX_NDIM + 1; ndim++) {
        char text[400] = "{\"x\":{\"dtype\":\"U8\",\"data_offsets\":[0,1],\"shape\":[1";
        for (int d = 1; d < ndim; d++)
            strcat(text, ",1");
        strcat(text, "]}}");
        dt_safetensors file = {0};
        dt_status status = parse(&file, text, 1, NULL);
        CHECK(status == (ndim <= DT_MAX_NDIM ? DT_OK : DT_VALUE));
        if (status == DT_OK)
            dt_safetensors_free(&file);
    }
}

/* Nothing outside the buffer is read (under sanitizers), and no prefix is taken. */
static void
a_header_that_is_cut_short_is_refused(void)
{
    const char *text =
        "{\"__metadata__\":{\"k\\u00e9\":\"\xe2\x82\xac\\ud83d\\ude00\"},"
        "\"w\":{\"dtype\":\"F32\",\"shape\":[2,3],"
        "\"data_offsets\":[0,24]}}";
    for (size_t bytes = 0; bytes <= strlen(text); bytes++) {
        char *copy = malloc(bytes + (bytes == 0));
        dt_safetensors file = {0};
        if (copy == NULL)
            continue;
        memcpy(copy, text, bytes);
        dt_status status = dt_safetensors_parse(&file, copy, bytes, 24, NULL);
        CHECK(status == (bytes == strlen(text) ? DT_OK : DT_VALUE));
        if (status == DT_OK)
            dt_safetensors_free(&file);
        free(copy);
    }
}

static void
a_header_that_is_too_long_is_not_looked_at(void)
{
    dt_safetensors file;
    dt_error err;
    CHECK(dt_safetensors_parse(&file, NULL, DT_SAFETENSORS_MOST + (size_t)1, 0, &err) ==
          DT_VALUE);
    CHECK(strstr(err.message, "100000001 bytes") != NULL);
}

DT_MAIN(TEST(the_checksum_is_crc_32c), TEST(parts_are_computed_alone_and_joined),
        TEST(a_header_is_read), TEST(texts_are_decoded),
        TEST(hostile_headers_are_refused_with_a_sentence),
        TEST(a_dimension_too_many_is_refused),
        TEST(a_header_that_is_cut_short_is_refused),
        TEST(a_header_that_is_too_long_is_not_looked_at))
