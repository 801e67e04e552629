/* What a call costs at least: the functions that a person would write by hand in C, with argument checks, no tuple, no conversion that is not needed. */
#define PY_SSIZE_T_CLEAN
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <Python.h>
#include <numpy/arrayobject.h>

static int two(Py_ssize_t n) {
    if (n == 2) return 1;
    PyErr_SetString(PyExc_TypeError, "two arguments expected");
    return 0;
}

static PyObject *add_int(PyObject *self, PyObject *const *args, Py_ssize_t n) {
    if (!two(n)) return NULL;
    long long a = PyLong_AsLongLong(args[0]), b;
    if (a == -1 && PyErr_Occurred()) return NULL;
    b = PyLong_AsLongLong(args[1]);
    if (b == -1 && PyErr_Occurred()) return NULL;
    return PyLong_FromLongLong((long long)((unsigned long long)a + (unsigned long long)b));
}

static PyObject *add_float(PyObject *self, PyObject *const *args, Py_ssize_t n) {
    if (!two(n)) return NULL;
    double a = PyFloat_AsDouble(args[0]), b;
    if (a == -1.0 && PyErr_Occurred()) return NULL;
    b = PyFloat_AsDouble(args[1]);
    if (b == -1.0 && PyErr_Occurred()) return NULL;
    return PyFloat_FromDouble(a + b);
}

static PyObject *head(PyObject *self, PyObject *const *args, Py_ssize_t n) {
    if (n != 1 || !PyArray_Check(args[0])) {
        PyErr_SetString(PyExc_TypeError, "one array expected");
        return NULL;
    }
    PyArrayObject *a = (PyArrayObject *)args[0];
    if (PyArray_NDIM(a) != 1 || PyArray_TYPE(a) != NPY_DOUBLE || !PyArray_ISCARRAY_RO(a)) {
        PyErr_SetString(PyExc_TypeError, "a one-dimensional array of doubles expected");
        return NULL;
    }
    if (PyArray_DIM(a, 0) == 0) {
        PyErr_SetString(PyExc_IndexError, "index 0 is out of bounds for axis 0 with size 0");
        return NULL;
    }
    return PyFloat_FromDouble(*(double *)PyArray_DATA(a));
}

static PyMethodDef methods[] = {
    {"add_int", (PyCFunction)(void (*)(void))add_int, METH_FASTCALL, NULL},
    {"add_float", (PyCFunction)(void (*)(void))add_float, METH_FASTCALL, NULL},
    {"head", (PyCFunction)(void (*)(void))head, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "overhead", NULL, -1, methods};

PyMODINIT_FUNC PyInit_overhead(void) {
    import_array();
    return PyModule_Create(&module);
}
