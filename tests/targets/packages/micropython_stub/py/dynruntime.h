/* The part of MicroPython's dynruntime.h that a sparsegen module uses, over the toy objects of runtime.c. */
#ifndef STUB_DYNRUNTIME_H
#define STUB_DYNRUNTIME_H

#include <stddef.h>
#include <stdint.h>

typedef intptr_t mp_int_t;
typedef uintptr_t mp_uint_t;
typedef struct { const char *name; } mp_obj_type_t;
typedef struct object *mp_obj_t;
typedef const char *qstr;
typedef struct { void *buf; size_t len; int typecode; } mp_buffer_info_t;
typedef struct { void *globals; } mp_obj_fun_bc_t;

struct object {
    const mp_obj_type_t *type;
    mp_int_t integer;
    float real;
    size_t length; /* items, or bytes of a str or buffer */
    const char *text;
    mp_obj_t *items;
    void *memory;
    int typecode;
    mp_obj_t (*call0)(void);
    mp_obj_t (*call1)(mp_obj_t);
};

extern const mp_obj_type_t mp_type_list, mp_type_function, mp_type_IndexError, mp_type_ValueError, mp_type_TypeError;
extern mp_obj_t const mp_const_none, mp_const_empty_tuple;

#define MP_BUFFER_READ 1
#define MP_OBJ_SENTINEL ((mp_obj_t)0)
#define MP_OBJ_FROM_PTR(p) ((mp_obj_t)(uintptr_t)(p))
#define MP_OBJ_NEW_SMALL_INT(i) mp_obj_new_int((mp_int_t)(i))
#define MP_ERROR_TEXT(text) text
#define MP_DEFINE_CONST_FUN_OBJ_0(o, f) const struct object o = {&mp_type_function, 0, 0, 0, 0, 0, 0, 0, f, 0}
#define MP_DEFINE_CONST_FUN_OBJ_1(o, f) const struct object o = {&mp_type_function, 0, 0, 0, 0, 0, 0, 0, 0, f}
#define MP_DYNRUNTIME_INIT_ENTRY (void)self; (void)n_args; (void)n_kw; (void)args;
#define MP_DYNRUNTIME_INIT_EXIT return mp_const_none;

#define MP_QSTR_predict "predict"
#define MP_QSTR_scores "scores"
#define MP_QSTR_label "label"
#define MP_QSTR_value "value"
#define MP_QSTR_selftest "selftest"
#define MP_QSTR_FEATURES "FEATURES"
#define MP_QSTR_CLASSES "CLASSES"
#define MP_QSTR_OUTPUTS "OUTPUTS"
#define MP_QSTR_UNIT "UNIT"
#define MP_QSTR_in_range "in_range"
#define MP_QSTR_probabilities "probabilities"
#define MP_QSTR_predict_or_reject "predict_or_reject"

void mp_store_global(qstr name, mp_obj_t value);
const mp_obj_type_t *mp_obj_get_type(mp_obj_t o);
mp_uint_t mp_obj_get_int(mp_obj_t o);
float mp_obj_get_float_to_f(mp_obj_t o);
mp_obj_t mp_obj_len(mp_obj_t o);
mp_obj_t mp_obj_subscr(mp_obj_t base, mp_obj_t index, mp_obj_t value);
void mp_get_buffer_raise(mp_obj_t o, mp_buffer_info_t *info, mp_uint_t flags);
mp_obj_t mp_obj_new_int(mp_int_t value);
mp_obj_t mp_obj_new_float_from_f(float value);
mp_obj_t mp_obj_new_str(const char *data, size_t length);
mp_obj_t mp_obj_new_tuple(size_t n, const mp_obj_t *items);
void mp_raise_msg(const mp_obj_type_t *type, const char *text) __attribute__((noreturn));
#define mp_raise_ValueError(text) mp_raise_msg(&mp_type_ValueError, text)

mp_obj_t mpy_init(mp_obj_fun_bc_t *self, size_t n_args, size_t n_kw, mp_obj_t *args);

#endif
