#include "core/layout/context.h"

#include "core/memory/table.h"

#include <stdlib.h>

struct dt_context {
    dt_hash_table meshes, layouts;
};

dt_context *
dt_context_make(void)
{
    return calloc(1, sizeof(dt_context));
}

void
dt_context_free(dt_context *context)
{
    if (context == NULL)
        return;
    dt_hash_table_free(&context->meshes);
    dt_hash_table_free(&context->layouts);
    free(context);
}

static bool
same_mesh(const void *item, const void *key)
{
    return dt_mesh_equal(item, key);
}

static bool
same_layout(const void *item, const void *key)
{
    return dt_layout_equal(item, key);
}

dt_status
dt_context_mesh(const dt_mesh **out, dt_context *context, dt_mesh *mesh, dt_error *err)
{
    const void *found =
        dt_hash_table_find(&context->meshes, mesh->hash, same_mesh, mesh);
    if (found != NULL) {
        dt_mesh_free(mesh);
        dt_mesh_retain(found);
        *out = found;
        return DT_OK;
    }
    if (!dt_hash_table_reserve(&context->meshes)) {
        dt_mesh_free(mesh);
        return dt_fail(err, DT_MEMORY, "no memory for one more mesh");
    }
    mesh->refs = 1;
    dt_hash_table_put(&context->meshes, mesh->hash, mesh);
    *out = mesh;
    return DT_OK;
}

dt_status
dt_context_layout(const dt_layout **out, dt_context *context, dt_layout *layout,
                  dt_error *err)
{
    const void *found =
        dt_hash_table_find(&context->layouts, layout->hash, same_layout, layout);
    if (found != NULL) {
        dt_layout_free(layout);
        dt_layout_retain(found);
        *out = found;
        return DT_OK;
    }
    if (!dt_hash_table_reserve(&context->layouts)) {
        dt_layout_free(layout);
        return dt_fail(err, DT_MEMORY, "no memory for one more layout");
    }
    layout->refs = 1;
    dt_mesh_retain(layout->mesh);
    dt_hash_table_put(&context->layouts, layout->hash, layout);
    *out = layout;
    return DT_OK;
}

/* The counts are the context's own and change under its lock, so that a `const` object
 * of the world outside can still be retained. */
void
dt_mesh_retain(const dt_mesh *mesh)
{
    ((dt_mesh *)mesh)->refs++;
}

void
dt_mesh_release(dt_context *context, const dt_mesh *mesh)
{
    dt_mesh *own = (dt_mesh *)mesh;
    if (--own->refs > 0)
        return;
    dt_hash_table_remove(&context->meshes, own->hash, own);
    dt_mesh_free(own);
}

void
dt_layout_retain(const dt_layout *layout)
{
    ((dt_layout *)layout)->refs++;
}

void
dt_layout_release(dt_context *context, const dt_layout *layout)
{
    dt_layout *own = (dt_layout *)layout;
    if (own == NULL || --own->refs > 0)
        return;
    const dt_mesh *mesh = own->mesh;
    dt_hash_table_remove(&context->layouts, own->hash, own);
    dt_layout_free(own);
    dt_mesh_release(context, mesh);
}

dt_context_info
dt_context_count(const dt_context *context)
{
    return (dt_context_info){.layouts = context->layouts.live,
                             .meshes = context->meshes.live};
}
