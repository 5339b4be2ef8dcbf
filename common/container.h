/*
 * container.h - the container and the pod that a control group tells.
 */
#ifndef COMMON_CONTAINER_H
#define COMMON_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>

#define CONTAINER_LOGS	"/var/log/containers"	/* where a node of Kubernetes names them */

struct container {
	char	id[65];		/* 64 hexadecimal digits; "": none */
	char	pod[37];	/* the pod's uid, with dashes; "": none */
};

/* Names as people gave them; each "" if it is not known. */
struct container_names {
	char	pod[256], pod_namespace[64], name[64];
};

/* The innermost container of a control group's path, as Docker, Podman, containerd and CRI-O
   name theirs, with systemd's names (cri-containerd-ID.scope) or without; and the pod that the
   path belongs to.  False, and both are "": neither. */
bool tnf_container_of(const char *cgroup, struct container *);

/* Finds the names of a container among the links POD_NAMESPACE_NAME-ID.log of a directory
   (CONTAINER_LOGS); false: it has none. */
bool tnf_container_names(const char *directory, const char *id, struct container_names *);

/* Finds a container of the pod with this name, by the same links; false: there is none. */
bool tnf_container_in_pod(const char *directory, const char *pod, char id[65]);

#endif
