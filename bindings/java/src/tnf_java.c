/*
 * tnf_java.c - the native methods of tnf.Probe.
 *
 * libtnfprobe is looked up at run time: without it every probe stays off.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

#include "tnf_Probe.h"

/* The declarations of <tnf/runtime.h>, which need not be installed. */
#define ARGUMENTS_MAX	16
enum { KIND_STRING = 12 };
struct argument_type { const char *name; uint32_t kind; };
struct value { union { uint64_t u; const void *data; } u; size_t size; };
struct control { uint32_t version, size; volatile uint32_t test; };

static struct control *(*define)(const char *, const char *, const char *, unsigned,
    const struct argument_type *);
static void (*record)(struct control *, const struct value *);

JNIEXPORT jboolean JNICALL
Java_tnf_Probe_open(JNIEnv *env, jclass class)
{
	void *library = dlopen("libtnfprobe.so.1", RTLD_NOW | RTLD_GLOBAL);

	(void)env, (void)class;
	if (library == NULL)
		return JNI_FALSE;
	record = (void (*)(struct control *, const struct value *))dlsym(library, "tnf_probe_hit");
	define = (struct control *(*)(const char *, const char *, const char *, unsigned,
	    const struct argument_type *))dlsym(library, "tnf_probe_define");
	return record != NULL && define != NULL;
}

/* The array ends in a NUL, which Probe.utf8() puts there. */
static jbyte *
bytes_of(JNIEnv *env, jbyteArray array)
{
	return (*env)->GetByteArrayElements(env, array, NULL);
}

JNIEXPORT jlong JNICALL
Java_tnf_Probe_make(JNIEnv *env, jclass class, jbyteArray name, jbyteArray keys,
    jbyteArray detail, jobjectArray names, jbyteArray kinds)
{
	struct argument_type types[ARGUMENTS_MAX];
	jbyteArray arrays[3] = { name, keys, detail };
	jbyte *text[3], kind[ARGUMENTS_MAX];
	jsize n = (*env)->GetArrayLength(env, kinds);
	struct control *made = NULL;

	(void)class;
	if (n > ARGUMENTS_MAX || (*env)->EnsureLocalCapacity(env, n + 8) != 0)
		return 0;
	(*env)->GetByteArrayRegion(env, kinds, 0, n, kind);
	for (int i = 0; i < 3; i++)
		text[i] = bytes_of(env, arrays[i]);
	for (jsize i = 0; i < n; i++) {
		jstring s = (*env)->GetObjectArrayElement(env, names, i);
		types[i].name = (*env)->GetStringUTFChars(env, s, NULL);
		types[i].kind = (uint32_t)kind[i];
	}
	if (text[0] != NULL && text[1] != NULL && text[2] != NULL)
		made = define((char *)text[0], (char *)text[1], (char *)text[2], (unsigned)n, types);
	for (jsize i = 0; i < n; i++)
		(*env)->ReleaseStringUTFChars(env, (*env)->GetObjectArrayElement(env, names, i),
		    types[i].name);
	for (int i = 0; i < 3; i++)
		(*env)->ReleaseByteArrayElements(env, arrays[i], text[i], JNI_ABORT);
	return (jlong)(intptr_t)made;
}

JNIEXPORT jobject JNICALL
Java_tnf_Probe_test(JNIEnv *env, jclass class, jlong control)
{
	struct control *c = (struct control *)(intptr_t)control;

	(void)class;
	return (*env)->NewDirectByteBuffer(env, (void *)&c->test, sizeof(c->test));
}

/* A probe with fewer arguments takes the first of the values. */
JNIEXPORT void JNICALL
Java_tnf_Probe_hit2(JNIEnv *env, jclass class, jlong control, jlong a, jlong b)
{
	struct value v[2] = { { { (uint64_t)a }, 0 }, { { (uint64_t)b }, 0 } };

	(void)env, (void)class;
	record((struct control *)(intptr_t)control, v);
}

JNIEXPORT void JNICALL
Java_tnf_Probe_hitAll(JNIEnv *env, jclass class, jlong control, jlongArray words,
    jobjectArray texts, jbyteArray kinds)
{
	struct value v[ARGUMENTS_MAX];
	jbyteArray array[ARGUMENTS_MAX] = { NULL };
	jlong word[ARGUMENTS_MAX];
	jbyte kind[ARGUMENTS_MAX];
	jsize n = (*env)->GetArrayLength(env, kinds);

	(void)class;
	if (n > ARGUMENTS_MAX || (*env)->EnsureLocalCapacity(env, n + 8) != 0)
		return;
	(*env)->GetByteArrayRegion(env, kinds, 0, n, kind);
	(*env)->GetLongArrayRegion(env, words, 0, n, word);
	for (jsize i = 0; i < n; i++) {
		v[i] = (struct value){ { (uint64_t)word[i] }, 0 };
		if (kind[i] < KIND_STRING)
			continue;
		v[i].u.data = NULL;
		array[i] = (*env)->GetObjectArrayElement(env, texts, i);
		if (array[i] == NULL)
			continue;
		v[i].size = (size_t)(*env)->GetArrayLength(env, array[i]);
		v[i].u.data = (*env)->GetByteArrayElements(env, array[i], NULL);
	}
	record((struct control *)(intptr_t)control, v);
	for (jsize i = 0; i < n; i++)
		if (array[i] != NULL && v[i].u.data != NULL)
			(*env)->ReleaseByteArrayElements(env, array[i], (jbyte *)v[i].u.data,
			    JNI_ABORT);
}
