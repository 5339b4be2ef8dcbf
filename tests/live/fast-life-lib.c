/*
 * fast-life-lib.c - the library of fast-life.c.
 */
__attribute__((visibility("default"))) long life_twice(long);

long
life_twice(long n)
{
	volatile long kept = n;

	return kept + kept + 1;
}
