/* context.h: layouts and meshes that are equal are one object.
 *
 * Equality of layouts is then a comparison of pointers. A context holds no reference of
 * its own: what nobody retains is gone. All calls under one lock of the caller's (in
 * Python: the GIL). */
#ifndef DT_CONTEXT_H
#define DT_CONTEXT_H

#include "core/layout/layout.h"

typedef struct dt_context dt_context;

dt_context *dt_context_make(void); /* NULL: no memory */
void dt_context_free(dt_context *context);

/* Enters a mesh, or frees it and returns its equal. Either way one reference is the
 * caller's. On failure the mesh is freed. DT_MEMORY. */
dt_status dt_context_mesh(const dt_mesh **out, dt_context *context, dt_mesh *mesh,
                          dt_error *err);

/* The same for a layout, which retains its mesh. */
dt_status dt_context_layout(const dt_layout **out, dt_context *context,
                            dt_layout *layout, dt_error *err);

void dt_mesh_retain(const dt_mesh *mesh);
void dt_mesh_release(dt_context *context, const dt_mesh *mesh);
void dt_layout_retain(const dt_layout *layout);
void dt_layout_release(dt_context *context, const dt_layout *layout); /* or NULL */

typedef struct {
    int64_t layouts, meshes;
} dt_context_info;

dt_context_info dt_context_count(const dt_context *context);

#endif
