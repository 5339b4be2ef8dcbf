/*
 * floor.c - functions that do nothing, for Java and for node (-DNODE): a call of one is the least
 * that a hit can cost which these languages hand over to C.
 */
#ifdef NODE
#include <node_api.h>

static napi_value
nothing(napi_env env, napi_callback_info info)
{
	(void)env, (void)info;
	return NULL;
}

NAPI_MODULE_INIT()
{
	napi_value f;

	napi_create_function(env, "nothing", NAPI_AUTO_LENGTH, nothing, NULL, &f);
	napi_set_named_property(env, exports, "nothing", f);
	return exports;
}
#else
#include <jni.h>

JNIEXPORT void JNICALL
Java_Bench_nothing(JNIEnv *env, jclass class, jlong control, jlong a, jlong b)
{
	(void)env, (void)class, (void)control, (void)a, (void)b;
}
#endif
