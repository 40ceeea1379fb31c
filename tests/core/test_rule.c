#include "core/rule/rule.h"

#include "check.h"

#include <stdlib.h>
#include <string.h>

/* Lists of lengths end with END. */
enum { END = -1, MOST = 8 };

static dt_rule *
parsed(const char *text, const char *partial)
{
    dt_rule *rule = NULL;
    dt_error err = {0};
    if (dt_rule_parse(&rule, text, partial, DT_SUM, &err) != DT_OK)
        printf("%s\n", err.message);
    CHECK(rule != NULL);
    return rule;
}

static void
rejects(const char *text, const char *partial, const char *message)
{
    dt_rule *rule = NULL;
    dt_error err = {0};
    CHECK(dt_rule_parse(&rule, text, partial, DT_SUM, &err) == DT_VALUE);
    CHECK(rule == NULL);
    if (strstr(err.message, message) == NULL)
        printf("'%s' gives: %s\n", text, err.message);
    CHECK(strstr(err.message, message) != NULL);
}

static int
shapes_of(dt_shape *out, int64_t lists[][MOST])
{
    int count = 0;
    for (; lists[count][0] != END - 1; count++) {
        out[count] = (dt_shape){.shape = lists[count]};
        while (lists[count][out[count].ndim] != END)
            out[count].ndim++;
    }
    return count;
}

#define LAST {END - 1}

static dt_status
bind(dt_binding **out, const dt_rule *rule, int64_t operands[][MOST], dt_error *err)
{
    dt_shape shapes[MOST];
    return dt_rule_bind(out, rule, shapes, shapes_of(shapes, operands), err);
}

static void
binds(const char *text, int64_t operands[][MOST], int64_t results[][MOST])
{
    dt_rule *rule = parsed(text, NULL);
    dt_binding *binding = NULL;
    dt_error err = {0};
    if (bind(&binding, rule, operands, &err) != DT_OK)
        printf("'%s': %s\n", text, err.message);
    CHECK(binding != NULL);
    dt_shape want[MOST];
    int count = shapes_of(want, results);
    CHECK(count == dt_rule_results(rule));
    for (int k = 0; binding != NULL && k < count; k++) {
        dt_shape got = dt_binding_result(binding, k);
        CHECK(got.ndim == want[k].ndim);
        for (int d = 0; d < got.ndim && d < want[k].ndim; d++)
            CHECK(got.shape[d] == want[k].shape[d]);
    }
    dt_binding_free(binding);
    dt_rule_free(rule);
}

static void
does_not_bind(const char *text, int64_t operands[][MOST], dt_status status,
              const char *message)
{
    dt_rule *rule = parsed(text, NULL);
    dt_binding *binding = NULL;
    dt_error err = {0};
    CHECK(bind(&binding, rule, operands, &err) == status);
    CHECK(binding == NULL);
    if (strstr(err.message, message) == NULL)
        printf("'%s' gives: %s\n", text, err.message);
    CHECK(strstr(err.message, message) != NULL);
    dt_rule_free(rule);
}

static void
terms_are_counted(void)
{
    static const struct {
        const char *text;
        int operands, results;
    } CASES[] = {{"mk,kn->mn", 2, 1}, {"->", 1, 1},          {",->,,", 2, 3},
                 {"...->...", 1, 1},  {"aB -> aB, a", 1, 2}, {"*a,(ab3)->a", 2, 1}};
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; k++) {
        dt_rule *rule = parsed(CASES[k].text, NULL);
        CHECK(dt_rule_operands(rule) == CASES[k].operands);
        CHECK(dt_rule_results(rule) == CASES[k].results);
        dt_rule_free(rule);
    }
}

static void
rules_of_single_elements_are_known(void)
{
    static const struct {
        const char *text;
        bool elementwise;
    } CASES[] = {{"...->...", true},   {"...,...->...,...", true},
                 {"ab,ab->ab", true},  {"a'b->a'b", true},
                 {"->", true},         {"aB->aB", false},
                 {"ab->ba", false},    {"ab->a", false},
                 {"ab,b->ab", false},  {"a->a[1:2]", false},
                 {"3a->3a", false},    {"*a->3a", false},
                 {"...a->...", false}, {"(ab)c->abc", false}};
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; k++) {
        dt_rule *rule = parsed(CASES[k].text, NULL);
        CHECK(dt_rule_elementwise(rule) == CASES[k].elementwise);
        dt_rule_free(rule);
    }
}

static void
what_is_no_rule_is_rejected_with_its_place(void)
{
    rejects("", NULL, "column 1: '->' is missing");
    rejects("ab,bc", NULL, "column 6: '->' is missing");
    rejects("ab->a?", NULL, "column 6: this sign has no meaning here");
    rejects("aa->a", NULL, "column 3: a factor lies twice in one term");
    rejects("(ab)a->b", NULL, "a factor lies twice");
    rejects("a->b", NULL, "factor b of a result has no length");
    rejects("a->*", NULL, "column 4: this sign has no meaning here");
    rejects("(ab->a", NULL, "this sign has no meaning here");
    rejects("ab->(a", NULL, "the rule ends too early");
    rejects("a->...", NULL, "no operand has '...'");
    rejects("...a...->a", NULL, "'...' lies twice");
    rejects("a[1:2]->a", NULL, "only results have windows");
    rejects("a->3[1:2]", NULL, "only factors have windows");
    rejects("a->a[1]", NULL, "':' is missing");
    rejects("a->a[1:2:0]", NULL, "at least 1");
    rejects("a->a[1:2", NULL, "']' is missing");
    rejects("a->a[:2]", NULL, "a number is missing");
    rejects("a->a;", NULL, "a factor is missing");
    rejects("a->a; b=3", NULL, "no term has this factor");
    rejects("a->a; a", NULL, "'=' is missing");
    rejects("a->a->a", NULL, "the rule should end here");
    rejects("a->99999999999999999999", NULL, "too large");
}

static void
what_is_no_partial_row_is_rejected(void)
{
    rejects("a,a->a", "some", "'some' is none of");
    rejects("a,a->a", "-1", "'-1' is none of");
    rejects("a,a->a", "2", "there is no operand 2");
    rejects("a,a->a", "sum->sum", "the rule has 2 operands");
    rejects("a,a->a", "sum,sum,sum->sum", "the rule has 2 operands");
    rejects("a,a->a", "sum,sum->sum,sum", "a placement for each of");
    rejects("a,a->a,a", "sum,sum->sum", "a placement for each of");
    rejects("a,a->a", "sum,S->sum", "'S'");
}

static void
partial_rows_are_read(void)
{
    static const char *const TEXTS[] = {
        "",
        "all",
        " each ; all ",
        "0; 1",
        "any;increasing;floating",
        "decreasing",
        "sum,R->sum; avg , R -> avg;R,R->R;max,min->max;max,min->max",
    };
    for (size_t k = 0; k < sizeof TEXTS / sizeof *TEXTS; k++)
        dt_rule_free(parsed("a,a->a", TEXTS[k]));
}

static void
results_get_the_shapes_of_their_words(void)
{
    binds("mk,kn->mn", (int64_t[][MOST]){{2, 3, END}, {3, 4, END}, LAST},
          (int64_t[][MOST]){{2, 4, END}, LAST});
    binds("ab->b,,ba1", (int64_t[][MOST]){{2, 3, END}, LAST},
          (int64_t[][MOST]){{3, END}, {END}, {3, 2, 1, END}, LAST});
    binds("(ab)c->abc; a=3", (int64_t[][MOST]){{6, 5, END}, LAST},
          (int64_t[][MOST]){{3, 2, 5, END}, LAST});
    binds("(ab)c,b->a(cb2)", (int64_t[][MOST]){{6, 5, END}, {3, END}, LAST},
          (int64_t[][MOST]){{2, 30, END}, LAST});
    binds("(ab),(bc)->c,a; b=2", (int64_t[][MOST]){{6, END}, {8, END}, LAST},
          (int64_t[][MOST]){{4, END}, {3, END}, LAST});
    binds("(ab),(bc),c->a", (int64_t[][MOST]){{6, END}, {8, END}, {4, END}, LAST},
          (int64_t[][MOST]){{3, END}, LAST});
    binds("a'a''->a''A7; A=0", (int64_t[][MOST]){{2, 3, END}, LAST},
          (int64_t[][MOST]){{3, 0, 7, END}, LAST});
    binds("a*->a[1:2:3]()", (int64_t[][MOST]){{5, 9, END}, LAST},
          (int64_t[][MOST]){{2, 1, END}, LAST});
    binds("a->a[5:0]", (int64_t[][MOST]){{2, END}, LAST},
          (int64_t[][MOST]){{0, END}, LAST});
    binds("(ab)->ab;b=0, a = 3", (int64_t[][MOST]){{0, END}, LAST},
          (int64_t[][MOST]){{3, 0, END}, LAST});
}

static void
dimensions_are_broadcast_as_numpy_does(void)
{
    binds("...,...->...", (int64_t[][MOST]){{2, 1, 4, END}, {3, 1, END}, LAST},
          (int64_t[][MOST]){{2, 3, 4, END}, LAST});
    binds("...,...->...", (int64_t[][MOST]){{END}, {1, 1, END}, LAST},
          (int64_t[][MOST]){{1, 1, END}, LAST});
    binds("...,...->...", (int64_t[][MOST]){{1, END}, {0, END}, LAST},
          (int64_t[][MOST]){{0, END}, LAST});
    binds("...mk,...kn->...mn",
          (int64_t[][MOST]){{7, 1, 2, 3, END}, {5, 3, 4, END}, LAST},
          (int64_t[][MOST]){{7, 5, 2, 4, END}, LAST});
    binds("...,a->a...", (int64_t[][MOST]){{2, 3, END}, {4, END}, LAST},
          (int64_t[][MOST]){{4, 2, 3, END}, LAST});
    does_not_bind("...,...->...", (int64_t[][MOST]){{2, END}, {3, END}, LAST}, DT_VALUE,
                  "lengths 2 and 3 could not be broadcast");
    does_not_bind("...,...->...", (int64_t[][MOST]){{2, END}, {0, END}, LAST}, DT_VALUE,
                  "lengths 2 and 0 could not be broadcast");
}

static void
shapes_that_do_not_fit_are_rejected(void)
{
    does_not_bind("mk,kn->mn", (int64_t[][MOST]){{2, 3, END}, {4, 4, END}, LAST},
                  DT_VALUE, "factor k of 'mk,kn->mn' has lengths 3 and 4");
    does_not_bind("mk,kn->mn", (int64_t[][MOST]){{2, 3, END}, LAST}, DT_VALUE,
                  "has 2 operands, not 1");
    does_not_bind("ab->b", (int64_t[][MOST]){{2, END}, LAST}, DT_VALUE,
                  "operand 0 has 1 dimensions, 'ab->b' wants 2");
    does_not_bind("...ab->b", (int64_t[][MOST]){{2, END}, LAST}, DT_VALUE,
                  "wants at least 2");
    does_not_bind("3a->a", (int64_t[][MOST]){{2, 1, END}, LAST}, DT_VALUE,
                  "dimension 0 of operand 0 has length 2, '3a->a' wants 3");
    does_not_bind("(ab)->a; b=2", (int64_t[][MOST]){{5, END}, LAST}, DT_BUG,
                  "the length of factor a of '(ab)->a; b=2' is missing");
    does_not_bind("(ab)->a", (int64_t[][MOST]){{6, END}, LAST}, DT_BUG, "is missing");
    does_not_bind("(ab),a,b->a", (int64_t[][MOST]){{6, END}, {2, END}, {2, END}, LAST},
                  DT_VALUE, "wants 4");
    does_not_bind("a->a; a=3", (int64_t[][MOST]){{2, END}, LAST}, DT_VALUE,
                  "lengths 2 and 3");
    does_not_bind("a->a[1:3:2]", (int64_t[][MOST]){{5, END}, LAST}, DT_VALUE,
                  "takes 3 elements from 1 on in steps of 2 out of 5");
    does_not_bind("a->a[7:1]", (int64_t[][MOST]){{5, END}, LAST}, DT_VALUE, "takes 1");
    does_not_bind("a->(ab); b=9223372036854775807", (int64_t[][MOST]){{5, END}, LAST},
                  DT_VALUE, "too large");
}

/* Any text is a rule or DT_VALUE; sanitizers look on. */
static void
no_text_is_dangerous(void)
{
    static const char SIGNS[] = "abcAB'()[]:;,->.*0123 =?\n";
    static const char WORDS[] = "alsumvgeichnyR01,->; ";
    uint64_t random = 1;
    for (int round = 0; round < 200000; round++) {
        char text[32], partial[32];
        int64_t length = check_below(&random, 24);
        for (int64_t k = 0; k < length; k++)
            text[k] = SIGNS[check_below(&random, sizeof SIGNS - 1)];
        text[length] = '\0';
        if (round % 3 == 0)
            strcpy(text, "...a,(ab)->a[0:1],...; b=2");
        length = check_below(&random, 24);
        for (int64_t k = 0; k < length; k++)
            partial[k] = WORDS[check_below(&random, sizeof WORDS - 1)];
        partial[length] = '\0';
        dt_rule *rule = NULL;
        dt_status status = dt_rule_parse(&rule, text, partial, DT_SUM, NULL);
        CHECK((status == DT_OK) == (rule != NULL));
        CHECK(status == DT_OK || status == DT_VALUE);
        dt_shape shapes[MOST];
        int64_t lengths[] = {2, 3, 1};
        for (int k = 0; k < MOST; k++)
            shapes[k] = (dt_shape){(int)check_below(&random, 4), lengths};
        dt_binding *binding = NULL;
        if (rule != NULL && dt_rule_operands(rule) <= MOST)
            (void)dt_rule_bind(&binding, rule, shapes, dt_rule_operands(rule), NULL);
        dt_binding_free(binding);
        dt_rule_free(rule);
    }
}

static void
a_rule_may_have_a_thousand_operands(void)
{
    enum { COUNT = 1000 };
    char *text = malloc(COUNT * 4 + 16), *at = text;
    int64_t lengths[] = {7, 5};
    dt_shape shapes[COUNT];
    for (int k = 0; k < COUNT; k++) {
        at += sprintf(at, "%s*b", k == 0 ? "" : ",");
        shapes[k] = (dt_shape){2, lengths};
    }
    sprintf(at, "->7000b");
    dt_rule *rule = parsed(text, "each;any;all");
    CHECK(dt_rule_operands(rule) == COUNT);
    dt_binding *binding = NULL;
    CHECK(dt_rule_bind(&binding, rule, shapes, COUNT, NULL) == DT_OK);
    dt_shape result = dt_binding_result(binding, 0);
    CHECK(result.ndim == 2 && result.shape[0] == 7000 && result.shape[1] == 5);
    dt_binding_free(binding);
    dt_rule_free(rule);
    free(text);
}

DT_MAIN(TEST(terms_are_counted), TEST(rules_of_single_elements_are_known),
        TEST(what_is_no_rule_is_rejected_with_its_place),
        TEST(what_is_no_partial_row_is_rejected), TEST(partial_rows_are_read),
        TEST(results_get_the_shapes_of_their_words),
        TEST(dimensions_are_broadcast_as_numpy_does),
        TEST(shapes_that_do_not_fit_are_rejected), TEST(no_text_is_dangerous),
        TEST(a_rule_may_have_a_thousand_operands))
