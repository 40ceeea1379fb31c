/* What Python sees of the tape: recording on and off, functions and writes of its own.
 */
#include "ext/tape/tape.h"

static PyObject *
is_grad_enabled(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    return PyBool_FromLong(!tape_off);
}

static PyObject *
set_grad_enabled(PyObject *Py_UNUSED(module), PyObject *wanted)
{
    int truth = PyObject_IsTrue(wanted);
    if (truth < 0)
        return NULL;
    bool before = !tape_off;
    tape_off = truth == 0;
    return PyBool_FromLong(before);
}

static PyObject *
take_node(PyObject *Py_UNUSED(module), PyObject *args)
{
    TensorObject *target, *made;
    if (!PyArg_ParseTuple(args, "O!O!:take_node", &ext_tensor_type, &target,
                          &ext_tensor_type, &made) ||
        tape_set_node(target, (NodeObject *)made->node, made->output) < 0)
        return NULL;
    target->requires_grad = made->requires_grad;
    tape_set_fresh(target);
    Py_RETURN_NONE;
}

/* Before a write into a view is recorded. */
static int
past_hooks(TensorObject *view)
{
    return !tape_off && tape_is_hooked(view) ? tape_see(view) : 0;
}

/* Those outputs which are inputs that the function has written into are `written`: what
 * they show, and are shown by, is to know. */
static int
tell_of_writes(PyObject *written)
{
    int failed = 0;
    for (Py_ssize_t k = 0; failed == 0 && k < PyTuple_GET_SIZE(written); k++) {
        TensorObject *tensor = (TensorObject *)PyTuple_GET_ITEM(written, k);
        if (!tensor->requires_grad)
            continue;
        failed = tape_recorded(tensor);
        if (failed == 0) {
            tape_set_fresh(tensor);
            failed = tape_tell_owner(tensor);
        }
    }
    return failed;
}

static PyObject *
record_function(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *name, *backward, *inputs, *outputs, *written = NULL;
    if (!PyArg_ParseTuple(args, "UOO!O!|O!:record_function", &name, &backward,
                          &PyTuple_Type, &inputs, &PyTuple_Type, &outputs,
                          &PyTuple_Type, &written))
        return NULL;
    for (Py_ssize_t k = 0; written != NULL && k < PyTuple_GET_SIZE(written); k++) {
        PyObject *tensor = PyTuple_GET_ITEM(written, k);
        if (!ext_is_tensor(tensor))
            return PyErr_Format(PyExc_TypeError, "record_function: %s is no Tensor",
                                Py_TYPE(tensor)->tp_name);
        if (tape_check_fresh((TensorObject *)tensor) < 0 ||
            past_hooks((TensorObject *)tensor) < 0)
            return NULL;
    }
    if (tape_record_function(name, backward, PySequence_Fast_ITEMS(inputs),
                             (int)PyTuple_GET_SIZE(inputs),
                             PySequence_Fast_ITEMS(outputs),
                             (int)PyTuple_GET_SIZE(outputs)) < 0 ||
        (written != NULL && !tape_off && tell_of_writes(written) < 0))
        return NULL;
    Py_RETURN_NONE;
}

/* `x[i] += v` is t = x[i]; t += v; x[i] = t: then the one write that x does not know of
 * is that of the value which is now set. */
static int
check_synced(TensorObject *target, PyObject *inputs)
{
    PyObject *value = PyTuple_GET_ITEM(inputs, PyTuple_GET_SIZE(inputs) - 1);
    const tape_history *history = target->history;
    if (ext_is_tensor(value) && ((TensorObject *)value)->history == history &&
        history != NULL && target->fresh + 1 == history->recorded &&
        ((TensorObject *)value)->fresh == history->recorded)
        return 0;
    return tape_check_fresh(target);
}

/* Enters a call that writes into the journal, with its index if that is small. */
static void
note_call(uint64_t call, PyObject *name, PyObject *index)
{
    bool small = PyLong_Check(index) || PySlice_Check(index);
    ext_journal_note(call, Py_NewRef(name), small ? Py_NewRef(index) : NULL, call, true,
                     0);
}

/* A write into a Tensor has no lineage that others know of. */
static void
note_local(PyObject *target, PyObject *name)
{
    const char *text = ext_is_dtensor(target) || !PyUnicode_Check(name)
                           ? NULL
                           : PyUnicode_AsUTF8(name);
    if (text != NULL)
        ext_local_done(ext_local_name(text));
    else
        PyErr_Clear();
}

/* The lineage of a call that writes into the first of its inputs. */
static uint64_t
how_written(PyObject *name, PyObject *inputs, PyObject *how)
{
    uint64_t call =
        ext_lineage_add(ext_lineage_add(ext_lineage_add(0, name), inputs), how);
    note_call(call, name, how);
    return call;
}

/* As tape_record_function, of a function that has written into `target`, its first
 * input. */
static PyObject *
record_write(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *name, *backward, *inputs, *how = Py_None;
    if (!PyArg_ParseTuple(args, "UOO!|O:record_write", &name, &backward, &PyTuple_Type,
                          &inputs, &how))
        return NULL;
    if (PyTuple_GET_SIZE(inputs) == 0 || !ext_is_tensor(PyTuple_GET_ITEM(inputs, 0)))
        return PyErr_Format(PyExc_TypeError,
                            "record_write: the first input must be a Tensor");
    PyObject *target = PyTuple_GET_ITEM(inputs, 0);
    TensorObject *written = (TensorObject *)target;
    if (check_synced(written, inputs) < 0 || past_hooks(written) < 0 ||
        tape_record_function(name, backward, PySequence_Fast_ITEMS(inputs),
                             (int)PyTuple_GET_SIZE(inputs), &target, 1) < 0)
        return NULL;
    bool recorded = !tape_off && written->requires_grad;
    uint64_t call = how_written(name, inputs, how);
    if ((recorded ? tape_written_recorded : tape_written)(written, call) < 0)
        return NULL;
    tape_set_fresh(written);
    if (tape_tell_owner(written) < 0)
        return NULL;
    note_local(target, name);
    Py_RETURN_NONE;
}

/* The other ranks may have written: theirs have calls of the lineage that this would have
 * had. */
static PyObject *
not_written(PyObject *Py_UNUSED(module), PyObject *args)
{
    if (PyTuple_GET_SIZE(args) < 2 || !PyUnicode_Check(PyTuple_GET_ITEM(args, 1)))
        return PyErr_Format(PyExc_TypeError, "not_written takes a tensor and a text");
    PyObject *target = PyTuple_GET_ITEM(args, 0), *name = PyTuple_GET_ITEM(args, 1);
    if (!ext_is_dtensor(target))
        return ext_local_failed_handling(name);
    if (ext_told)
        Py_RETURN_NONE;
    uint64_t call = 0;
    for (Py_ssize_t k = 2; k < PyTuple_GET_SIZE(args); k++)
        call = ext_lineage_add(call, PyTuple_GET_ITEM(args, k));
    note_call(call, name, Py_None);
    const dt_mesh *mesh = ((DTensorObject *)target)->layout->layout->mesh;
    return ext_failed_handling(mesh, call, name);
}

static PyObject *
old_value(PyObject *Py_UNUSED(module), PyObject *tensor)
{
    if (!ext_is_tensor(tensor))
        return PyErr_Format(PyExc_TypeError, "old_value takes a Tensor, not %s",
                            Py_TYPE(tensor)->tp_name);
    return tape_is_hooked((TensorObject *)tensor)
               ? tape_old_value((TensorObject *)tensor)
               : Py_NewRef(tensor);
}

static PyObject *
check_write(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *target, *values;
    PyObject *name;
    if (!PyArg_ParseTuple(args, "UO!O!:check_write", &name, &ext_tensor_type, &target,
                          &PyTuple_Type, &values))
        return NULL;
    OperatorObject op = {.name = name};
    op_call call = {.op = &op,
                    .operands = PySequence_Fast_ITEMS(values),
                    .operand_count = (int)PyTuple_GET_SIZE(values)};
    if (tape_check_write(&call, (TensorObject *)target, true) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *
hooks_of(PyObject *Py_UNUSED(module), PyObject *tensor)
{
    bool is_node = tape_is_node(tensor);
    if (!is_node && !ext_is_tensor(tensor))
        return PyErr_Format(PyExc_TypeError, "hooks_of takes a Tensor or Node, not %s",
                            Py_TYPE(tensor)->tp_name);
    TensorObject *self = (TensorObject *)tensor;
    if (!is_node && tape_check_fresh(self) < 0)
        return NULL;
    PyObject *node = is_node ? tensor : self->node;
    bool made = node != NULL && tape_is_node(node);
    PyObject **hooks = made ? &((NodeObject *)node)->hooks : &self->hooks;
    if (*hooks == NULL)
        *hooks = PyList_New(0);
    return Py_XNewRef(*hooks);
}

static PyObject *
save(PyObject *Py_UNUSED(module), PyObject *tensor)
{
    if (!ext_is_tensor(tensor))
        return PyErr_Format(PyExc_TypeError, "save takes a Tensor, not %s",
                            Py_TYPE(tensor)->tp_name);
    return tape_save((TensorObject *)tensor, -1, NULL);
}

/* A leaf's cast: what floats is made of leaves alone. */
static PyObject *
let_float(PyObject *Py_UNUSED(module), PyObject *tensor)
{
    PyObject *node = ext_is_tensor(tensor) ? ((TensorObject *)tensor)->node : NULL;
    if (node != NULL && tape_is_node(node))
        ((NodeObject *)node)->floats = true;
    return Py_NewRef(tensor);
}

static PyObject *
operand_of(PyObject *Py_UNUSED(module), PyObject *tensor)
{
    if (!ext_is_tensor(tensor))
        return PyErr_Format(PyExc_TypeError, "operand_of takes a Tensor, not %s",
                            Py_TYPE(tensor)->tp_name);
    return tape_meta((TensorObject *)tensor, 0);
}

static PyObject *
forget_history(PyObject *Py_UNUSED(module), PyObject *tensor)
{
    if (!ext_is_tensor(tensor))
        return PyErr_Format(PyExc_TypeError, "forget_history takes a Tensor, not %s",
                            Py_TYPE(tensor)->tp_name);
    TensorObject *self = (TensorObject *)tensor;
    Py_CLEAR(self->node);
    self->output = 0;
    self->requires_grad = self->leaf_view = false;
    tape_set_fresh(self);
    return Py_NewRef(tensor);
}

static PyObject *
written(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *tensor = PyTuple_GET_SIZE(args) > 0 ? PyTuple_GET_ITEM(args, 0) : Py_None;
    if (!ext_is_tensor(tensor))
        return PyErr_Format(PyExc_TypeError, "written takes a Tensor, not %s",
                            Py_TYPE(tensor)->tp_name);
    uint64_t call = ext_lineage_add(0, args);
    if (PyTuple_GET_SIZE(args) > 1)
        note_call(call, PyTuple_GET_ITEM(args, 1),
                  PyTuple_GET_SIZE(args) > 2 ? PyTuple_GET_ITEM(args, 2) : Py_None);
    if (tape_written((TensorObject *)tensor, call) < 0)
        return NULL;
    if (PyTuple_GET_SIZE(args) > 1)
        note_local(tensor, PyTuple_GET_ITEM(args, 1));
    Py_RETURN_NONE;
}

static PyObject *
set_programs(PyObject *Py_UNUSED(module), PyObject *wanted)
{
    return ext_switch(&tape_programs, wanted);
}

static PyObject *
played_count(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    return PyLong_FromLongLong(tape_played_count);
}

PyMethodDef ext_tape_methods[] = {
    {"set_programs", set_programs, METH_O,
     "set_programs(wanted, /)\n--\n\n"
     "Whether backward repeats the calls that the gradient function of an operator "
     "has\n"
     "made before, instead of calling it; in this thread. Return what was."},
    {"played_count", played_count, METH_NOARGS,
     "played_count()\n--\n\nReturn how often it did, in all threads."},
    {"is_grad_enabled", is_grad_enabled, METH_NOARGS,
     "is_grad_enabled()\n--\n\nReturn whether operators are recorded in this thread."},
    {"set_recording", set_grad_enabled, METH_O,
     "set_recording(wanted, /)\n--\n\nRecord operators or not; return what was."},
    {"take_node", take_node, METH_VARARGS,
     "take_node(target, made, /)\n--\n\n"
     "Let a tensor have the history of another one."},
    {"record_function", record_function, METH_VARARGS,
     "record_function(name, backward, inputs, outputs, written=(), /)\n--\n\n"
     "Make outputs what backward(*gradients of the outputs) goes back through: it "
     "gives\n"
     "a gradient or None for each input, in a tuple, or the only one. `written`: the\n"
     "outputs that are inputs, of which the function has changed the elements."},
    {"record_write", record_write, METH_VARARGS,
     "record_write(name, backward, inputs, how=None, /)\n--\n\n"
     "The same, of a function that has written into its first input: that is its\n"
     "output. `how`: its constants."},
    {"check_write", check_write, METH_VARARGS,
     "check_write(name, target, values, /)\n--\n\n"
     "RuntimeError if values must not be written into a tensor, for its gradient."},
    {"old_value", old_value, METH_O,
     "old_value(tensor, /)\n--\n\n"
     "Return what a write into a tensor goes back to: itself, or of a view that has "
     "hooks\n"
     "a copy that has none."},
    {"save", save, METH_O,
     "save(tensor, /)\n--\n\nReturn what keeps a tensor until backward."},
    {"let_float", let_float, METH_O,
     "let_float(tensor, /)\n--\n\n"
     "Let backward go through what made a tensor from leaves after the oldest that "
     "uses\n"
     "it, whenever it was made: other ranks may have made it later. Return the "
     "tensor."},
    {"operand_of", operand_of, METH_O,
     "operand_of(tensor, /)\n--\n\nReturn shape, dtype and layout as an Operand."},
    {"forget_history", forget_history, METH_O,
     "forget_history(tensor, /)\n--\n\n"
     "Make a tensor a leaf without gradient; return it."},
    {"written", written, METH_VARARGS,
     "written(tensor, /, *how)\n--\n\n"
     "Note a write into a tensor, so that backward finds it if it needs what was "
     "there,\n"
     "and by what it was made, so that other ranks find if they have made another "
     "one."},
    {"not_written", not_written, METH_VARARGS,
     "not_written(tensor, name, /, *how)\n--\n\n"
     "Say that a write into a tensor has raised the exception that is being handled,\n"
     "maybe on this rank alone."},
    {"hooks_of", hooks_of, METH_O,
     "hooks_of(tensor, /)\n--\n\n"
     "Return the list of (output, kind, function) that backward calls for a tensor, "
     "or\n"
     "of all hooks of a node."},
    {0},
};
