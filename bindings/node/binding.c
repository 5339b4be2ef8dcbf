/*
 * binding.c - probes of TNF for node: define a probe, whose function records a hit.
 *
 * index.js asks whether a probe is on by a Uint32Array over the probe's word 'test', without
 * a call.  libtnfprobe is looked up at run time: without it every probe stays off.
 */
#define NAPI_VERSION 8
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <node_api.h>

/* The declarations of <tnf/runtime.h>, which need not be installed. */
#define ARGUMENTS_MAX	16
#define FEW		3	/* arguments that most probes have at most */
#define TEXT_MAX	65536
enum { KIND_INT8 = 1, KIND_INT64 = 4, KIND_UINT64 = 8, KIND_FLOAT32, KIND_FLOAT64, KIND_OPAQUE,
    KIND_STRING, KIND_TEXT, KIND_BLOB };
struct argument_type { const char *name; uint32_t kind; };
struct value { union { int64_t i; uint64_t u; double d; const void *data; } u; size_t size; };
struct control { uint32_t version, size; volatile uint32_t test; };

struct probe {
	struct control	*control;
	unsigned	 n;
	uint8_t		 kind[ARGUMENTS_MAX];
};

static struct control *(*define)(const char *, const char *, const char *, unsigned,
    const struct argument_type *);
static void (*record)(struct control *, const struct value *);
static struct control off;

static void
load(void)
{
	void *library = dlopen("libtnfprobe.so.1", RTLD_NOW | RTLD_GLOBAL);

	if (library == NULL || record != NULL)
		return;
	record = (void (*)(struct control *, const struct value *))dlsym(library, "tnf_probe_hit");
	if (record != NULL)
		define = (struct control *(*)(const char *, const char *, const char *, unsigned,
		    const struct argument_type *))dlsym(library, "tnf_probe_define");
}

static napi_value
fail(napi_env env, const char *text)
{
	napi_throw_type_error(env, "ERR_TNF", text);
	return NULL;
}

/* A copy of a string, to be freed; NULL: the value is none. */
static char *
text_of(napi_env env, napi_value v)
{
	size_t n;
	char *s;

	if (napi_get_value_string_utf8(env, v, NULL, 0, &n) != napi_ok)
		return NULL;
	s = malloc(n + 1);
	if (s != NULL)
		napi_get_value_string_utf8(env, v, s, n + 1, &n);
	return s;
}

static void
probe_free(napi_env env, void *data, void *hint)
{
	(void)env, (void)hint;
	free(data);
}

/* Nothing is freed: control blocks live as long as the process. */
static void
keep(napi_env env, void *data, void *hint)
{
	(void)env, (void)data, (void)hint;
}

/* A text's bytes go to *at; a value that is none is recorded as null. */
static void
take_text(napi_env env, napi_value v, struct value *to, char **at, char *end)
{
	size_t n;

	to->u.data = NULL;
	to->size = 0;
	if (*at + 1 >= end || napi_get_value_string_utf8(env, v, *at, (size_t)(end - *at), &n) !=
	    napi_ok)
		return;
	to->u.data = *at;
	to->size = n;
	*at += n + 1;
}

/* Numbers that 64 bits do not hold are 0. */
static uint64_t
integer_of(double d)
{
	if (d >= -0x1p63 && d < 0x1p63)
		return (uint64_t)(int64_t)d;
	return d >= 0x1p63 && d < 0x1p64 ? (uint64_t)d : 0;
}

static void
take_number(napi_env env, napi_value v, unsigned kind, struct value *to)
{
	bool is_float = kind == KIND_FLOAT32 || kind == KIND_FLOAT64, b;
	double d;

	to->u.u = 0;
	if (napi_get_value_double(env, v, &d) == napi_ok)
		is_float ? (to->u.d = d) : (to->u.u = integer_of(d));
	else if (!is_float && napi_get_value_bigint_uint64(env, v, &to->u.u, &b) != napi_ok &&
	    napi_get_value_bool(env, v, &b) == napi_ok)
		to->u.u = b;
}

static void
take_bytes(napi_env env, napi_value v, struct value *to)
{
	void *data;

	to->u.data = NULL;
	to->size = 0;
	if (napi_get_buffer_info(env, v, &data, &to->size) == napi_ok)
		to->u.data = data;
}

/* hit(value, ...): node hands over 'argc' values; those that are not given are undefined: null or 0. */
static inline napi_value
hit(napi_env env, napi_callback_info info, size_t argc)
{
	static char room[TEXT_MAX + ARGUMENTS_MAX];
	napi_value argv[ARGUMENTS_MAX];
	struct value values[ARGUMENTS_MAX];
	char *at = room;
	struct probe *p;

	if (napi_get_cb_info(env, info, &argc, argv, NULL, (void **)&p) != napi_ok || record == NULL)
		return NULL;
	for (unsigned i = 0; i < p->n; i++) {
		if (p->kind[i] == KIND_STRING || p->kind[i] == KIND_TEXT)
			take_text(env, argv[i], &values[i], &at, room + sizeof(room));
		else if (p->kind[i] == KIND_BLOB)
			take_bytes(env, argv[i], &values[i]);
		else
			take_number(env, argv[i], p->kind[i], &values[i]);
	}
	record(p->control, values);
	return NULL;
}

static napi_value
js_hit(napi_env env, napi_callback_info info)
{
	return hit(env, info, ARGUMENTS_MAX);
}

/* Values that nobody takes cost time, too. */
static napi_value
js_hit_few(napi_env env, napi_callback_info info)
{
	return hit(env, info, FEW);
}

/* { hit, test } of a probe: hit(value, ...) belongs to it, and frees it. */
static napi_value
functions_of(napi_env env, struct probe *p)
{
	napi_value object, hit, buffer, test;

	if (napi_create_object(env, &object) != napi_ok ||
	    napi_create_function(env, "hit", NAPI_AUTO_LENGTH, p->n <= FEW ? js_hit_few : js_hit, p, &hit) !=
	    napi_ok || napi_add_finalizer(env, hit, p, probe_free, NULL, NULL) != napi_ok)
		return NULL;
	napi_set_named_property(env, object, "hit", hit);
	if (napi_create_external_arraybuffer(env, (void *)&p->control->test, 4, keep, NULL,
	    &buffer) == napi_ok &&
	    napi_create_typedarray(env, napi_uint32_array, 1, buffer, 0, &test) == napi_ok)
		napi_set_named_property(env, object, "test", test);
	return object;
}

/* define(name, keys, detail, [name, ...], [kind, ...]) */
static napi_value
js_define(napi_env env, napi_callback_info info)
{
	struct argument_type types[ARGUMENTS_MAX];
	char *text[3] = { NULL }, *names[ARGUMENTS_MAX] = { NULL };
	struct probe *p = calloc(1, sizeof(*p));
	napi_value argv[5], v, object = NULL;
	size_t argc = 5;
	uint32_t n = 0;

	napi_get_cb_info(env, info, &argc, argv, NULL, NULL);
	for (int i = 0; i < 3; i++)
		text[i] = text_of(env, argv[i]);
	napi_get_array_length(env, argv[3], &n);
	if (p == NULL || text[0] == NULL || text[1] == NULL || text[2] == NULL || n > ARGUMENTS_MAX) {
		fail(env, "a probe has a name, keys and at most 16 arguments");
		goto out;
	}
	for (uint32_t i = 0; i < n; i++) {
		napi_get_element(env, argv[3], i, &v);
		types[i].name = names[i] = text_of(env, v);
		napi_get_element(env, argv[4], i, &v);
		napi_get_value_uint32(env, v, &types[i].kind);
		p->kind[i] = (uint8_t)types[i].kind;
	}
	p->n = n;
	p->control = define != NULL ? define(text[0], text[1], text[2], n, types) : &off;
	if (p->control == NULL)
		fail(env, "a name or a key has a character that is not allowed, or is too long");
	else if ((object = functions_of(env, p)) != NULL)
		p = NULL;
out:
	for (uint32_t i = 0; i < ARGUMENTS_MAX; i++)
		free(names[i]);
	for (int i = 0; i < 3; i++)
		free(text[i]);
	free(p);
	return object;
}

NAPI_MODULE_INIT()
{
	napi_value f;

	load();
	napi_create_function(env, "define", NAPI_AUTO_LENGTH, js_define, NULL, &f);
	napi_set_named_property(env, exports, "define", f);
	napi_get_boolean(env, define != NULL, &f);
	napi_set_named_property(env, exports, "available", f);
	return exports;
}
