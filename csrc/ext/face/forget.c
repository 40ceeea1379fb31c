/* forget.c: what is kept of calls is forgotten, for tests: no answer, and nothing that is
 * sent or compared, may depend on what a rank still knows of the calls before. */
#include "ext/face/face.h"

#include "comm/run/execute.h"
#include "core/plan/plans.h"

PyObject *
ext_forget(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    WorldObject *world = ext_world_current();
    op_cache_clear(op_answers_free);
    move_forget_routes();
    move_forget_texts();
    move_forget_targets();
    ext_forget_delivered();
    ext_forget_offered();
    if (world != NULL && world->world != NULL && !world->busy)
        dt_world_forget_runs(world->world);
    dt_plans_forget(ext_plans);
    Py_RETURN_NONE;
}

const char ext_forget_doc[] =
    "_forget()\n--\n\n"
    "Forget what is kept of calls of operators, moves and new tensors; for tests.";
