/*
 * unsynced.h - incidents that have their name, and may not be on the disk yet.
 *
 * Such a one has a file ".unsynced" with the boot's id and, as soon as they are known, the
 * size and a sum of each file.  It goes when the disk has all.  A killed tnfwatch loses
 * nothing by it, since what was written is the kernel's; who starts next syncs the incident.
 * Where the machine went down meanwhile, the incident is kept only if the disk has each file
 * as it was written: a file may have its size, and zeros in place of its last pages.
 */
#ifndef TNFWATCH_UNSYNCED_H
#define TNFWATCH_UNSYNCED_H

struct config;

/* Notes in the directory that it is not on the disk; 0 or an errno. */
int unsynced_note(int dir);
/* Notes what is in it, waits for the disk and takes the note away; 'all' is the directory's parent. */
int unsynced_sync(int dir, int all);
/* Those that an earlier tnfwatch has left so. */
void unsynced_clean(const struct config *);

#endif /* TNFWATCH_UNSYNCED_H */
