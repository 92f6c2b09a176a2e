/*
 * Toy objects for a module under test, and a program: every line of standard input is a call, such as
 *     predict list 0.5 1 2        scores array:f 1 2 3        label int 1        selftest
 * and gives a line of output: what the call returned, or the exception.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "py/dynruntime.h"

const mp_obj_type_t mp_type_list = {"list"}, mp_type_function = {"function"}, mp_type_IndexError = {"IndexError"},
                    mp_type_ValueError = {"ValueError"}, mp_type_TypeError = {"TypeError"};
static const mp_obj_type_t type_none = {"NoneType"}, type_tuple = {"tuple"}, type_int = {"int"}, type_float = {"float"},
                           type_str = {"str"}, type_array = {"array"};
static struct object none = {&type_none, 0, 0, 0, 0, 0, 0, 0, 0, 0}, empty = {&type_tuple, 0, 0, 0, 0, 0, 0, 0, 0, 0};
mp_obj_t const mp_const_none = &none, mp_const_empty_tuple = &empty;

static jmp_buf handler;
static struct { qstr name; mp_obj_t value; } globals[16];
static size_t n_globals;

void mp_raise_msg(const mp_obj_type_t *type, const char *text)
{
    printf("%s: %s", type->name, text);
    longjmp(handler, 1);
}

static mp_obj_t make(const mp_obj_type_t *type)
{
    mp_obj_t o = calloc(1, sizeof *o);
    o->type = type;
    return o;
}

mp_obj_t mp_obj_new_int(mp_int_t value) { mp_obj_t o = make(&type_int); o->integer = value; return o; }
mp_obj_t mp_obj_new_float_from_f(float value) { mp_obj_t o = make(&type_float); o->real = value; return o; }

mp_obj_t mp_obj_new_str(const char *data, size_t length)
{
    mp_obj_t o = make(&type_str);
    o->text = data;
    o->length = length;
    return o;
}

mp_obj_t mp_obj_new_tuple(size_t n, const mp_obj_t *items)
{
    mp_obj_t o = make(&type_tuple);
    o->length = n;
    o->items = calloc(n + 1, sizeof *items);
    memcpy(o->items, items, n * sizeof *items);
    return o;
}

void mp_store_global(qstr name, mp_obj_t value)
{
    globals[n_globals].name = name;
    globals[n_globals++].value = value;
}

const mp_obj_type_t *mp_obj_get_type(mp_obj_t o) { return o->type; }

mp_uint_t mp_obj_get_int(mp_obj_t o)
{
    if (o->type != &type_int) { mp_raise_msg(&mp_type_TypeError, "can't convert to int"); }
    return (mp_uint_t)o->integer;
}

float mp_obj_get_float_to_f(mp_obj_t o)
{
    if (o->type == &type_int) { return (float)o->integer; }
    if (o->type != &type_float) { mp_raise_msg(&mp_type_TypeError, "can't convert to float"); }
    return o->real;
}

static size_t item_size(int typecode)
{
    switch (typecode) {
    case 'h': case 'H': return 2;
    case 'f': return 4;
    case 'd': return 8;
    default: return 1;
    }
}

mp_obj_t mp_obj_len(mp_obj_t o)
{
    if (o->items == NULL && o->memory == NULL && o->type != &mp_type_list) {
        mp_raise_msg(&mp_type_TypeError, "object has no len()");
    }
    return mp_obj_new_int((mp_int_t)(o->memory ? o->length / item_size(o->typecode) : o->length));
}

mp_obj_t mp_obj_subscr(mp_obj_t base, mp_obj_t index, mp_obj_t value)
{
    const size_t i = (size_t)index->integer;
    if (value != MP_OBJ_SENTINEL) { abort(); }
    if (base->items != NULL) {
        if (i >= base->length) { mp_raise_msg(&mp_type_IndexError, "list"); }
        return base->items[i];
    }
    if (i >= base->length / item_size(base->typecode)) { mp_raise_msg(&mp_type_IndexError, "array"); }
    switch (base->typecode) {
    case 'h': return mp_obj_new_int(((int16_t *)base->memory)[i]);
    case 'H': return mp_obj_new_int(((uint16_t *)base->memory)[i]);
    case 'f': return mp_obj_new_float_from_f(((float *)base->memory)[i]);
    case 'd': return mp_obj_new_float_from_f((float)((double *)base->memory)[i]);
    default: return mp_obj_new_int(((uint8_t *)base->memory)[i]);
    }
}

void mp_get_buffer_raise(mp_obj_t o, mp_buffer_info_t *info, mp_uint_t flags)
{
    if (o->memory == NULL || flags != MP_BUFFER_READ) {
        mp_raise_msg(&mp_type_TypeError, "object with buffer protocol required");
    }
    info->buf = o->memory;
    info->len = o->length;
    info->typecode = o->typecode;
}

static void show(mp_obj_t o)
{
    size_t i;
    if (o->type == &type_int) { printf("%ld", (long)o->integer); }
    if (o->type == &type_float) { printf("%.9g", (double)o->real); }
    if (o->type == &type_str) { printf("%.*s", (int)o->length, o->text); }
    for (i = 0; o->type == &type_tuple && i < o->length; ++i) {
        printf("%s", i ? " " : "");
        show(o->items[i]);
    }
}

/* Returns the argument a line describes: a kind, then numbers. */
static mp_obj_t argument(char *kind)
{
    static double numbers[4096];
    static mp_obj_t items[4096];
    size_t n = 0, i;
    mp_obj_t o;
    char *word;
    while ((word = strtok(NULL, " \n")) != NULL) {
        numbers[n] = atof(word);
        items[n] = strchr(word, '.') ? mp_obj_new_float_from_f((float)numbers[n]) : mp_obj_new_int(atol(word));
        ++n;
    }
    if (strcmp(kind, "int") == 0) { return items[0]; }
    if (strcmp(kind, "list") == 0 || strcmp(kind, "tuple") == 0) {
        o = mp_obj_new_tuple(n, items);
        o->type = *kind == 'l' ? &mp_type_list : &type_tuple;
        return o;
    }
    o = make(&type_array); /* array:CODE */
    o->typecode = kind[6] == '1' ? 1 : kind[6];
    o->length = n * item_size(o->typecode);
    o->memory = calloc(n + 1, item_size(o->typecode));
    for (i = 0; i < n; ++i) {
        switch (o->typecode) {
        case 'h': ((int16_t *)o->memory)[i] = (int16_t)numbers[i]; break;
        case 'H': ((uint16_t *)o->memory)[i] = (uint16_t)numbers[i]; break;
        case 'f': ((float *)o->memory)[i] = (float)numbers[i]; break;
        case 'd': ((double *)o->memory)[i] = numbers[i]; break;
        default: ((uint8_t *)o->memory)[i] = (uint8_t)numbers[i];
        }
    }
    return o;
}

static void answer(mp_obj_t value, char *kind)
{
    if (setjmp(handler) == 0) {
        show(value->call1 ? value->call1(argument(kind)) : value->call0 ? value->call0() : value);
    }
}

int main(void)
{
    static char line[1 << 16];
    mp_obj_fun_bc_t self = {NULL};
    mpy_init(&self, 0, 0, NULL);
    while (fgets(line, sizeof line, stdin) != NULL) {
        char *name = strtok(line, " \n"), *kind = strtok(NULL, " \n");
        size_t g = 0;
        while (g < n_globals && strcmp(globals[g].name, name) != 0) { ++g; }
        if (g == n_globals) { printf("NameError: %s", name); } else { answer(globals[g].value, kind); }
        putchar('\n');
    }
    return 0;
}
