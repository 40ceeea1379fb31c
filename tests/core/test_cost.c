#include "core/plan/cost.h"

#include "check.h"

#include <string.h>

static void
nodes_of_as_many_neighbours_are_found(void)
{
    static const struct {
        uint64_t nodes[6];
        int64_t size, node;
    } ROWS[] = {{{7, 7, 7, 7, 7, 7}, 6, 0}, {{7, 7, 3, 3, 9, 9}, 6, 2},
                {{7, 7, 7, 3, 3}, 5, 3},    {{7, 3, 7, 3}, 4, 0},
                {{7, 7, 3, 9}, 4, 0},       {{1, 2, 3}, 3, 1}};
    dt_mesh *mesh;
    CHECK(dt_mesh_make(&mesh, 2, (int64_t[]){2, 4}, NULL, NULL, 0, NULL) == DT_OK);
    for (size_t k = 0; k < sizeof ROWS / sizeof *ROWS; k++) {
        dt_cost cost = DT_COST_DEFAULT;
        dt_cost_find_nodes(&cost, ROWS[k].nodes, ROWS[k].size);
        CHECK(cost.node == ROWS[k].node && cost.hash == 0);
    }
    dt_cost cost = DT_COST_DEFAULT;
    dt_cost_find_nodes(&cost, NULL, 6);
    CHECK(cost.node == 0);
    cost.node = 4;
    CHECK(dt_cost_link(&cost, mesh, 1).bandwidth == cost.nodes.bandwidth);
    CHECK(dt_cost_link(&cost, mesh, 2).bandwidth == cost.link.bandwidth);
    CHECK(dt_cost_link(&cost, mesh, 3).bandwidth == cost.nodes.bandwidth);
    dt_mesh_free(mesh);
}

static void
costs_are_read_as_they_are_written(void)
{
    static const char *const SAME[][2] = {
        {"", "latency=1e-06,bandwidth=1e+10,copy=1e+10"},
        {" copy=3 , latency=0.1", "latency=0.1,bandwidth=1e+10,copy=3"},
        {"tp.latency=0,a.b.bandwidth=2,latency=5",
         "latency=5,bandwidth=1e+10,copy=1e+10,a.b.latency=5,a.b.bandwidth=2,"
         "tp.latency=0,tp.bandwidth=1e+10"},
        {"node_ranks=8,nodes_latency=1,nodes_bandwidth=2",
         "latency=1e-06,bandwidth=1e+10,copy=1e+10,nodes_latency=1,nodes_bandwidth=2,"
         "node_ranks=8"},
    };
    static const char *const BAD[] = {
        "fast",         "latency",     "latency=",   "latency=x",
        "latency=1s",   "=1",          ".latency=1", "dp.copy=1",
        "latency=nan",  "latency=inf", "copy=0",     "latency=-1",
        "bandwidth=-1", "speed=1",     "copy==1",    "latency=1;copy=1",
        "node_ranks=0", "family=6",    "family=1.5", "dp.node_ranks=2",
    };
    char text[400];
    dt_cost cost, again, given = DT_COST_DEFAULT;
    for (int k = 0; k < 4; k++) {
        CHECK(dt_cost_parse(&cost, SAME[k][0], NULL) == DT_OK);
        dt_cost_print(text, sizeof text, &cost);
        CHECK(strcmp(text, SAME[k][1]) == 0);
        CHECK(dt_cost_parse(&again, text, NULL) == DT_OK);
        CHECK(memcmp(&cost, &again, sizeof cost) == 0);
        CHECK((cost.hash == 0) == (k == 0));
    }
    for (size_t k = 0; k < sizeof BAD / sizeof *BAD; k++) {
        dt_error err;
        cost = given;
        CHECK(dt_cost_parse(&cost, BAD[k], &err) == DT_VALUE);
        CHECK(memcmp(&cost, &given, sizeof cost) == 0);
    }
}

int
main(void)
{
    const check_test tests[] = {
        TEST(costs_are_read_as_they_are_written),
        TEST(nodes_of_as_many_neighbours_are_found),
    };
    return check_run(tests, sizeof tests / sizeof *tests);
}
