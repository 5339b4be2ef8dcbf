/*
 * live.h - blocks of a buffer, copied while others write them.
 *
 * A reader that copies a buffer takes no lock and stops nobody; the writers do not notice.
 * That its copy is sound rests on three things that every writer does, a thread in
 * a process's file and a CPU in the kernel's buffer alike.
 *
 * 1. A writer commits a record by raising the block's bytes_valid behind it.  So
 *    what lies below bytes_valid is whole, and is not written again in this use of
 *    the block.  To take a block for its next use, a writer makes bytes_valid small,
 *    then changes the generation, and writes records only then.  tnf_live_copy() reads the
 *    generation, then bytes_valid, then the records, and then both again: with the
 *    same generation before and after, and bytes_valid not smaller than before, the
 *    records are of one use and whole.  Otherwise it drops the block.
 * 2. A writer fills its blocks in the order in which it took them.  A reader that looks at
 *    the newest block first, and at older ones later, finds the older ones at least as full
 *    as they were when the newer was looked at: if an event is seen, all events of its
 *    writer before it are seen, or have been overwritten.
 * 3. A writer commits a record before any event that refers to it.  So a reader copies
 *    the record after the event that refers to it: events, then the directory that names
 *    definitions, then definitions.  A definition may refer to one that was added
 *    to a block copied before: tnf_live_copy_definitions() goes over them until none
 *    has grown.  The header comes last.
 *
 * How the two copiers use this depends on what an event may refer to.  In the kernel's
 * buffer (tnfxtract/snapshot.c) each event stands alone, so blocks may be copied in any
 * order, as far as they were filled when they were looked at, the newest first.  The system
 * call that writes the file reads the records; a block whose use is another one afterwards is
 * blanked in the file.  If a writer reused a block before we copied it, the copy has a hole
 * there.  Then every older block that has been reused by now is removed from the copy too, even
 * if it was copied whole.  Older blocks that nobody has reused stay: they belong to CPUs that
 * hardly write.  In a process's file (libtnf/copy.c) an event may refer to newer
 * blocks, which must be copied after it.  There the newest blocks are looked at first
 * (point 2), then all are copied, the oldest first, and events that came after the look
 * are taken out of the copy; copy_take() begins again if writers took too many blocks.
 *
 * Others ask the same question, whether a block is still in the same use, and do not
 * copy by this header: tnfwatch looks at blocks by tnf_live_look() before and after it copies
 * full ones, which nobody extends (copy_block() in history.c), or one event
 * (channel_copy() in channel.c); libtnf/follow.c and libtnf/merge.c read the mapped file in
 * place and ask for a block's generation again before they hand an event of it out.
 */
#ifndef FORMAT_LIVE_H
#define FORMAT_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A buffer, whose blocks have headers from 'first' on. */
struct live {
	const unsigned char *base;
	/*
	 * Reads n bytes at an offset of the buffer; 2 or 4 bytes at once, as another
	 * thread has stored them.  NULL: they are in memory, at base.
	 */
	void	(*read)(const struct live *, uint64_t off, void *to, size_t n);
	uint64_t size;		/* a multiple of block_size */
	uint64_t first;		/* another one */
	uint32_t block_size;	/* sizeof(struct tnf_block_header) at least */
	bool	 swap;		/* written in the other byte order */
};

/* The use of a block at one moment, and how far it was filled. */
struct live_use {
	uint32_t generation;
	uint32_t used;		/* bytes_valid */
};

enum live_copied {
	LIVE_EMPTY,		/* there are no records, or bytes_valid is nonsense */
	LIVE_COPIED,
	LIVE_TAKEN		/* the block went to its next use during the copy */
};

/* The block at 'off' as it is now: 'used' is not older than the generation. */
struct live_use tnf_live_look(const struct live *, uint64_t off);

/*
 * Copies the block at 'off', in the use that use->generation says, to block_size bytes
 * at 'to'; sets use->used to how much of it was copied.  LIVE_EMPTY: the header is
 * copied.  LIVE_TAKEN: 'to' is all zeros, a block that was never used.
 */
enum live_copied tnf_live_copy(const struct live *, uint64_t off, unsigned char *to,
    struct live_use *);

/* Copies bytes word by word, each as it was at one time; 'n' is a multiple of 4. */
void tnf_live_copy_words(const struct live *, uint64_t off, unsigned char *to, size_t n);

/*
 * Copies blocks of definitions until none has grown, and gives each to put(), which
 * may see the same one again.  seen[N] is of the block at N * block_size; a caller
 * that has copied none yet gives zeros.  'block' is room for one.  False: put() said so.
 */
bool tnf_live_copy_definitions(const struct live *, struct live_use *seen, unsigned char *block,
    bool (*put)(void *arg, uint64_t off, const void *block, size_t n), void *arg);

#endif /* FORMAT_LIVE_H */
