/*
 * indirect.c - another process, reached through functions of the client's.
 */
#include <stdlib.h>
#include <unistd.h>

#include "libtnfctl/control.h"

struct indirect {
	void	*client;
	tnfctl_ind_config_t config;
};

static bool
ind_read(tnfctl_handle_t *h, uintptr_t address, void *buf, size_t n)
{
	struct indirect *i = h->priv;

	return i->config.p_read(i->client, address, buf, n) == 0;
}

static bool
ind_write(tnfctl_handle_t *h, uintptr_t address, const void *buf, size_t n)
{
	struct indirect *i = h->priv;

	return i->config.p_write(i->client, address, (void *)(uintptr_t)buf,
	    n) == 0;
}

struct listing {
	tnfctl_handle_t *h;
	tnfctl_errcode_t err;
	bool	 first;
};

static int
indirect_list_one(void *client, const struct tnfctl_ind_obj_info *i, void *arg)
{
	struct listing *l = arg;
	struct object_info info = {
		.name = i->objname ? i->objname : "",
		.file = i->objname ? i->objname : "",
		.fd = i->objfd,
		.bias = NO_BIAS,
		.base = i->text_base,
		.key = { i->text_base, i->data_base },
		.main = l->first,
	};

	l->first = false;
	l->err = tnfctl_object_seen(l->h, &info);
	return l->err != TNFCTL_ERR_NONE;
}

static tnfctl_errcode_t
ind_objects(tnfctl_handle_t *h)
{
	struct listing l = { .h = h, .first = true };
	struct indirect *i = h->priv;

	if (i->config.p_obj_iter(i->client, indirect_list_one, &l) != 0 &&
	    l.err == TNFCTL_ERR_NONE)
		return tnfctl_error_set(TNFCTL_ERR_INTERNAL, "process %d: the client's "
		    "function cannot list its objects", (int)h->pid);
	return l.err;
}

static tnfctl_errcode_t
ind_close(tnfctl_handle_t *h, tnfctl_targ_op_t op)
{
	tnfctl_control_claim(h, 0);
	free(h->priv);
	return TNFCTL_ERR_NONE;
}

static const struct target_ops indirect_ops = {
	.close = ind_close,
	.refresh = tnfctl_control_refresh,
	.attrs = tnfctl_control_attrs,
	.buffer_alloc = tnfctl_buffer_create,
	.mark = tnfctl_mark_file,
	.freeze = tnfctl_freeze_file,
	.probe_state = tnfctl_control_probe_state,
	.probe_set = tnfctl_control_probe_set,
	.probe_connect = tnfctl_control_connect,
	.probe_disconnect = tnfctl_control_disconnect,
	.read = ind_read,
	.write = ind_write,
	.objects = ind_objects,
};

TNFCTL_API tnfctl_errcode_t
tnfctl_indirect_open(void *client, tnfctl_ind_config_t *config,
    tnfctl_handle_t **ret)
{
	tnfctl_handle_t *h = tnfctl_handle_new(&indirect_ops,
	    config->p_getpid(client));
	struct indirect *i = malloc(sizeof(*i));
	tnfctl_errcode_t err = tnfctl_error_set(TNFCTL_ERR_ALLOCFAIL, NULL);

	if (h != NULL && i != NULL) {
		*i = (struct indirect){ .client = client, .config = *config };
		h->priv = i;
		if ((err = tnfctl_control_refresh(h)) == TNFCTL_ERR_NONE)
			err = tnfctl_control_check(h);
	}
	if (err == TNFCTL_ERR_NONE) {
		tnfctl_control_claim(h, getpid());
		*ret = h;
		return err;
	}
	free(i);
	tnfctl_handle_free(h);
	return err;
}
