/* watch.h: Python functions that are told of operators and moves while they run.
 *
 * One pair for the process, for dtensor.debug. Without it an operator, and a move,
 * takes one look at a pointer. */
#ifndef DT_EXT_WATCH_H
#define DT_EXT_WATCH_H

#include "comm/run/watch.h"
#include "ext/op.h"

extern PyObject *watch_on_operator, *watch_on_move; /* or NULL */
extern _Thread_local const op_call *watch_inside;   /* the call that is told of */

/* op_run for a call that is watched. */
PyObject *watch_run(const op_entry *entry, const op_call *call, PyObject *out);

/* Before a move of items: who is told of its collectives is then what
 * watch_take_teller gives, once: a new reference or NULL. */
void watch_move(const ext_item *items, int count, const char *what);
PyObject *watch_take_teller(void);

/* Tells of the collectives of a run that has ended; steals `teller`. Leaves exceptions
 * as they are. */
void watch_tell(PyObject *teller, const dt_run *run, const dt_world *world);
/* The same of collectives that were counted and not run: nobody is sent to. */
void watch_tell_counted(PyObject *teller, const dt_event *deeds, int count);

extern const char watch_doc[], watch_rule_doc[];
PyObject *watch_set(PyObject *module, PyObject *args);
PyObject *watch_rule(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                     PyObject *kwnames);

#endif
