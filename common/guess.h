/*
 * guess.h - find the word that was meant.
 */
#ifndef COMMON_GUESS_H
#define COMMON_GUESS_H

/* The word of a NULL-ended list that is only a slip away, or NULL. */
const char *tnf_word_guess(const char *const *words, const char *text);

#endif
