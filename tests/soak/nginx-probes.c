/*
 * nginx-probes.c - probes for a server that nobody has patched.
 *
 * A library for LD_PRELOAD: the calls by which nginx takes connections, reads
 * requests and writes answers have probes in front of the C library's.  The
 * probes are nginx's children's, too.  tests/soak/nginx.sh uses it.
 */
#include <dlfcn.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <tnf/probe.h>

int
accept4(int listener, struct sockaddr *address, socklen_t *length, int flags)
{
	static int (*next)(int, struct sockaddr *, socklen_t *, int);
	int fd;

	if (next == NULL)
		*(void **)&next = dlsym(RTLD_NEXT, "accept4");
	fd = next(listener, address, length, flags);
	if (fd >= 0)
		TNF_PROBE_1(accepted, "server connection", "", tnf_int, fd, fd);
	return fd;
}

ssize_t
recv(int fd, void *bytes, size_t size, int flags)
{
	static ssize_t (*next)(int, void *, size_t, int);
	ssize_t n;

	if (next == NULL)
		*(void **)&next = dlsym(RTLD_NEXT, "recv");
	n = next(fd, bytes, size, flags);
	if (n > 0)
		TNF_PROBE_2(received, "server bytes", "", tnf_int, fd, fd,
		    tnf_long, bytes, (long)n);
	return n;
}

ssize_t
writev(int fd, const struct iovec *parts, int count)
{
	static ssize_t (*next)(int, const struct iovec *, int);
	ssize_t n;

	if (next == NULL)
		*(void **)&next = dlsym(RTLD_NEXT, "writev");
	n = next(fd, parts, count);
	if (n > 0)
		TNF_PROBE_2(sent, "server bytes", "", tnf_int, fd, fd,
		    tnf_long, bytes, (long)n);
	return n;
}
