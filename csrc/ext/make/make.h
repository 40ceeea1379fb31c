/* The room ext/make: tensors from numbers, arrays, parts, functions and random streams:
 * the factories, distribute_tensor, from_local, from_callback, drawing.
 *
 * May use: ext/base, ext/types, ext/move, ext/tape.
 * Begin with: create.c, then distribute.c. */
#ifndef DT_EXT_MAKE_H
#define DT_EXT_MAKE_H

#include "ext/tape/tape.h"

/* --- create.c, without_data.c, filled.c, random.c: functions of the module --- */

extern PyMethodDef ext_create_methods[], ext_without_data_methods[],
    ext_filled_methods[], ext_random_methods[];

/* --- distribute.c, callback.c: rows of the table in create.c --- */

PyObject *ext_distribute_tensor(PyObject *module, PyObject *const *args,
                                Py_ssize_t nargs, PyObject *kwnames);
PyObject *ext_from_callback(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                            PyObject *kwnames);
extern const char ext_distribute_tensor_doc[], ext_from_callback_doc[];
/* The group of a mesh, and where in the mesh this rank is, if it is inside. */
dt_group *ext_join(int64_t *coordinate, bool *inside, const dt_mesh *mesh,
                   const char *what);
/* RuntimeError for a Partial, which no data can be cut into. */
int ext_refuse_partial(const dt_mesh *mesh, const dt_placement *placements);

/* The same is made again and again, so its layouts are kept, and what the ranks compare. */
enum { EXT_KEPT = 16 };

/* Of what a kept thing was made. */
typedef struct {
    const dt_mesh *mesh; /* of a layout that is retained; NULL: nothing yet */
    dt_placement placements[DT_MESH_MAX_NDIM];
    ext_meta meta;
} ext_kept;

ext_kept ext_kept_of(const dt_mesh *mesh, const dt_placement *placements,
                     const ext_meta *meta);
/* Its place among EXT_KEPT. */
int ext_kept_place(const dt_mesh *mesh, const dt_placement *placements,
                   const ext_meta *meta);
/* Whether a call may keep what it makes: its array has data, and it bears its own name. */
bool ext_kept_may(const ext_meta *meta);
bool ext_kept_fits(const ext_kept *kept, const dt_mesh *mesh,
                   const dt_placement *placements, const ext_meta *meta);

void ext_forget_delivered(void); /* distribute.c */
void ext_forget_offered(void);   /* from_local.c */

/* --- from_local.c, survey.c, replicas.c --- */

PyObject *ext_from_local(PyObject *ignored, PyObject *const *args, Py_ssize_t nargs,
                         PyObject *kwnames);
extern const char ext_from_local_doc[];

/* The layout of the parts that the ranks of a mesh hold, to be freed, with cut points
 * where they are not chunks. `shape`: what they must make up, or NULL. DT_VALUE. */
dt_status ext_layout_of_parts(dt_layout **out, const dt_mesh *mesh,
                              const dt_placement *placements, const ext_meta *metas,
                              const int64_t *shape, bool compare_grad, dt_error *err);
/* Replaces the array by a copy of what the first rank along every Replicate mesh
 * dimension has, on all others. Collective over those ranks. */
int ext_first_replica(PyObject **array, const ext_meta *meta, const dt_mesh *mesh,
                      const dt_placement *placements, const int64_t *coordinate);

#endif
