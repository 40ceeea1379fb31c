/* Gradients on their way: brought into shape, added up, and left at the leaves. */
#include "ext/tape/tape.h"

#include <string.h>

/* --- into shape --- */

/* What is known of the tensor that an edge leads to. New reference. */
static PyObject *
meta_of(PyObject *target, int output)
{
    return tape_is_node(target) ? Py_NewRef(((NodeObject *)target)->metas[output])
                                : tape_meta((TensorObject *)target, output);
}

/* A plain array is a gradient of a Tensor, of a DTensor it can be anything. The gradient
 * of a Tensor that stood for a replicated one is whole. */
static PyObject *
as_tensor(PyObject *grad, const OperandObject *meta, PyObject *name)
{
    bool wants = meta->layout != Py_None;
    if (ext_is_tensor(grad) && ext_is_dtensor(grad) == wants)
        return grad;
    PyObject *made = NULL;
    if (!wants && !ext_is_tensor(grad)) {
        PyObject *array = ext_array_of(grad, NULL, "backward");
        made = array == NULL ? NULL : ext_tensor(array);
    } else if (!wants && ext_implicit_replication)
        made = PyObject_CallMethod(grad, "full_tensor", NULL);
    else
        PyErr_Format(PyExc_RuntimeError,
                     "%UBackward returned a %s as the gradient of a %s", name,
                     Py_TYPE(grad)->tp_name, wants ? "DTensor" : "Tensor");
    Py_DECREF(grad);
    return made;
}

static bool
same_shape(const dt_layout *a, const dt_layout *b)
{
    return a->ndim == b->ndim &&
           memcmp(a->shape, b->shape, sizeof *a->shape * (size_t)a->ndim) == 0;
}

static PyObject *
with_shape(PyObject *grad, const OperandObject *meta, PyObject *name)
{
    if (ext_is_dtensor(grad) &&
        (PyObject *)((DTensorObject *)grad)->layout == meta->layout)
        return grad;
    if (ext_is_dtensor(grad) && same_shape(((DTensorObject *)grad)->layout->layout,
                                           ((LayoutObject *)meta->layout)->layout))
        return grad;
    PyObject *shape = PyObject_GetAttrString(grad, "shape"), *fit = NULL;
    int same = shape == NULL ? -1 : PyObject_RichCompareBool(shape, meta->shape, Py_EQ);
    if (same > 0)
        fit = Py_NewRef(grad);
    else if (same == 0)
        fit = tape_sum_to(grad, meta->shape);
    if (same == 0 && fit == NULL && PyErr_ExceptionMatches(PyExc_ValueError))
        PyErr_Format(PyExc_RuntimeError,
                     "%UBackward returned an invalid gradient: got %R but expected "
                     "shape compatible with %R",
                     name, shape, meta->shape);
    Py_XDECREF(shape);
    Py_DECREF(grad);
    return fit;
}

static PyObject *
with_dtype(PyObject *grad, const OperandObject *meta)
{
    PyArray_Descr *have = PyArray_DESCR((PyArrayObject *)((TensorObject *)grad)->array);
    if (have == (PyArray_Descr *)meta->dtype ||
        PyArray_EquivTypes(have, (PyArray_Descr *)meta->dtype))
        return grad;
    PyObject *fit = tape_cast(grad, meta->dtype);
    Py_DECREF(grad);
    return fit;
}

PyObject *
tape_fit(PyObject *grad, PyObject *target, int output, PyObject *name)
{
    OperandObject *meta = (OperandObject *)meta_of(target, output);
    if (meta == NULL) {
        Py_DECREF(grad);
        return NULL;
    }
    grad = as_tensor(grad, meta, name);
    if (grad != NULL)
        grad = with_shape(grad, meta, name);
    if (grad != NULL)
        grad = with_dtype(grad, meta);
    Py_DECREF(meta);
    return grad;
}

PyObject *
tape_fit_all(NodeObject *node, PyObject *results, const bool *sent)
{
    bool tuple = results != NULL && PyTuple_Check(results);
    Py_ssize_t count = results == NULL ? 0 : tuple ? PyTuple_GET_SIZE(results) : 1;
    PyObject *fit = results == NULL ? NULL : PyTuple_New(node->input_count);
    for (int e = 0; fit != NULL && e < node->input_count; e++) {
        tape_edge edge = node->edges[e];
        PyObject *grad = e >= count ? Py_None
                         : tuple    ? PyTuple_GET_ITEM(results, e)
                                    : results;
        grad = Py_NewRef(sent[e] ? grad : Py_None);
        if (grad != Py_None)
            grad = tape_fit(grad, edge.target, edge.output, node->name);
        ext_put(&fit, e, grad);
    }
    Py_XDECREF(results);
    return fit;
}

/* --- added up --- */

/* Whether nobody else sees the elements of a tensor. */
static bool
is_sole(PyObject *tensor)
{
    PyObject *array = ((TensorObject *)tensor)->array;
    if (Py_REFCNT(tensor) != 1 || ((TensorObject *)tensor)->node != NULL)
        return false;
    while (Py_REFCNT(array) == 1 && PyArray_CheckExact(array)) {
        PyObject *base = PyArray_BASE((PyArrayObject *)array);
        if (!PyArray_ISWRITEABLE((PyArrayObject *)array))
            return false;
        if (base == NULL || !PyArray_Check(base))
            return ext_has_own_memory((PyArrayObject *)array);
        array = base;
    }
    return false;
}

/* Whether every element has a place of its own. */
static bool
is_dense(PyObject *tensor)
{
    PyArrayObject *array = (PyArrayObject *)((TensorObject *)tensor)->array;
    for (int d = 0; d < PyArray_NDIM(array); d++)
        if (PyArray_STRIDE(array, d) == 0 && PyArray_DIM(array, d) > 1)
            return false;
    return true;
}

static bool
same_layout(PyObject *a, PyObject *b)
{
    return !ext_is_dtensor(a) ||
           ((DTensorObject *)a)->layout == ((DTensorObject *)b)->layout;
}

/* a + b, into the memory of `a` or not: ranks may differ in that, so both have the same
 * lineage. Steals both. */
static PyObject *
sum_of(PyObject *a, PyObject *b, bool in_place)
{
    uint64_t lineage = ext_lineage_add(ext_lineage_add(0, a), b);
    uint64_t operand = ext_is_dtensor(a) ? ext_lineage((DTensorObject *)a) : 0;
    uint64_t second = ext_is_dtensor(b) ? ext_lineage((DTensorObject *)b) : 0;
    PyObject *sum = in_place ? PyNumber_InPlaceAdd(a, b) : PyNumber_Add(a, b);
    if (sum != NULL && ext_is_dtensor(sum)) {
        ext_with_lineage(sum, lineage);
        ext_journal_note(lineage, PyUnicode_FromString("a sum of gradients"), NULL,
                         operand, false, second);
    }
    Py_DECREF(a);
    Py_DECREF(b);
    return sum;
}

PyObject *
tape_add(PyObject *a, PyObject *b, bool in_place)
{
    return sum_of(a, b, in_place && same_layout(a, b) && is_sole(a) && is_dense(a));
}

/* --- at a leaf --- */

/* A gradient in the layout of its leaf; steals it. */
static PyObject *
settled(PyObject *grad, TensorObject *leaf)
{
    if (!ext_is_dtensor((PyObject *)leaf))
        return grad;
    LayoutObject *to = tape_dual(((DTensorObject *)leaf)->layout);
    LayoutObject *from = ((DTensorObject *)grad)->layout;
    PyObject *moved = NULL;
    if (to == from)
        moved = Py_NewRef(grad);
    else if (to != NULL)
        moved = tape_redistribute_to(grad, to, "backward");
    Py_XDECREF((PyObject *)to);
    Py_DECREF(grad);
    return moved;
}

/* Whether the elements of a gradient are in the order of its leaf's in memory, or in C
 * order: then it has the views that PyTorch's has. */
static bool
is_ordered(PyArrayObject *grad, TensorObject *leaf)
{
    PyArrayObject *array = (PyArrayObject *)leaf->array;
    return PyArray_IS_C_CONTIGUOUS(grad) || !ext_is_torch((PyObject *)leaf) ||
           (PyArray_NDIM(grad) == PyArray_NDIM(array) &&
            PyArray_CompareLists(PyArray_STRIDES(grad), PyArray_STRIDES(array),
                                 PyArray_NDIM(grad)));
}

static PyObject *
copy_of(PyObject *grad, PyArrayObject *held)
{
    PyObject *array = held == NULL ? NULL : ext_array_copy(held);
    return ext_tensor_like(array, grad);
}

PyObject *
tape_in_order(PyObject *grad, TensorObject *input)
{
    PyArrayObject *array = (PyArrayObject *)((TensorObject *)grad)->array;
    bool recorded = !tape_off && ((TensorObject *)grad)->requires_grad;
    if (PyArray_IS_C_CONTIGUOUS(array) || recorded || !ext_is_torch((PyObject *)input))
        return Py_NewRef(grad);
    PyObject *copy = copy_of(grad, ext_local(grad));
    return ext_like_dialect(copy, grad);
}

static PyObject *
own_copy(PyObject *grad, TensorObject *leaf)
{
    PyArrayObject *held = ext_local(grad); /* which nobody is to compute any more */
    if (held != NULL && is_sole(grad) && is_dense(grad) && is_ordered(held, leaf))
        return grad;
    PyObject *copy = copy_of(grad, held);
    Py_DECREF(grad);
    return copy;
}

static int
add_to(TensorObject *leaf, PyObject *grad)
{
    PyObject *have = leaf->grad;
    bool in_place = tape_off && same_layout(have, grad) &&
                    !((TensorObject *)have)->requires_grad &&
                    PyArray_ISWRITEABLE((PyArrayObject *)((TensorObject *)have)->array);
    Py_INCREF(have); /* a hook may set another one */
    PyObject *sum = sum_of(have, grad, in_place);
    if (sum == NULL)
        return -1;
    Py_XSETREF(leaf->grad, sum);
    return 0;
}

int
tape_accumulate(TensorObject *leaf, PyObject *grad)
{
    grad = settled(grad, leaf);
    if (grad == NULL)
        return -1;
    if (leaf->grad != NULL)
        return add_to(leaf, grad);
    if (tape_off || !((TensorObject *)grad)->requires_grad)
        grad = own_copy(grad, leaf);
    else
        Py_SETREF(grad, PyObject_CallMethod(grad, "copy", NULL)); /* recorded */
    leaf->grad = ext_like_dialect(grad, (PyObject *)leaf);        /* it is new */
    return grad == NULL ? -1 : 0;
}
