/* dialect.h: tensors with PyTorch's methods, and how new ones come to have them. Part of
 * types.h. */
#ifndef DT_EXT_DIALECT_H
#define DT_EXT_DIALECT_H

/* Whether an object is a tensor in PyTorch's dialect. */
static inline bool
ext_is_torch(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    if (ext_type_within(type, TYPE_TENSOR, TYPE_DTENSOR))
        return ext_type_within(type, TYPE_TORCH_TENSOR, TYPE_TORCH_DTENSOR);
    return PyType_IsSubtype(type, &ext_torch_tensor_type);
}

/* Turns a new tensor of our own two types, which nobody else has seen, into one of
 * PyTorch's dialect; NULL passes. */
static inline PyObject *
ext_into_torch(PyObject *made)
{
    if (made != NULL && Py_TYPE(made) == &ext_dtensor_type)
        Py_SET_TYPE(made, &ext_torch_dtensor_type);
    else if (made != NULL && Py_TYPE(made) == &ext_tensor_type)
        Py_SET_TYPE(made, &ext_torch_tensor_type);
    return made;
}

/* Turns a new tensor of our own types, or NULL, into one of the dialect of another. */
static inline PyObject *
ext_like_dialect(PyObject *made, PyObject *like)
{
    bool torch = ext_is_torch(like);
    if (made != NULL && !torch && Py_TYPE(made) == &ext_torch_dtensor_type)
        Py_SET_TYPE(made, &ext_dtensor_type);
    else if (made != NULL && !torch && Py_TYPE(made) == &ext_torch_tensor_type)
        Py_SET_TYPE(made, &ext_tensor_type);
    return torch ? ext_into_torch(made) : made;
}

/* The same if `like`, any object, is in it. */
static inline PyObject *
ext_in_dialect(PyObject *made, PyObject *like)
{
    return ext_is_torch(like) ? ext_into_torch(made) : made;
}

#endif
