/* What users tell a running mount of orders, by setxattr on its root.
 *
 * The kernel holds the root's inode lock while a setxattr is under way, and whoever looks up a
 * new name in the root waits for that lock.  So each command is answered within COMMAND_NS,
 * and what takes longer goes on by itself.
 *
 * Thread-safety: every call on any thread.
 */
#pragma once
#include "base/clock.h"
#include "fs/serve.h"

#define COMMAND_NS CLOCK_S
#define COMMAND_TEXT 256

struct commands;
int commands_start(struct commands **ret) DL_MUST_CHECK;
void commands_stop(struct commands *c);        /* NULL is fine */

/* Follow this order.  -EINVAL and others: nothing has changed, and command_error() says why.
 * 0: it is followed, or will be once the dataset has been read to its end.
 * -EINPROGRESS: a list of files that takes long to read; if it is good it will be followed.
 */
int command_order(struct serve *s, const char *spec) DL_MUST_CHECK;
/* Follow it soon; nobody waits.  Of several at the same time only one is taken. */
void command_follow(struct serve *s, const char *spec);
/* The next open belongs to this epoch: a decimal number.  -EINVAL: it is none, or the order has no
 * epochs that could be told, and command_error() says which; -ETIMEDOUT */
int command_epoch(struct serve *s, const char *number) DL_MUST_CHECK;

/* There is no such attribute: -EINVAL, and command_error() says which there are. */
int command_unknown(struct serve *s, const char *name);

/* What became of an order: followed (0), or refused for this reason; "": by what the error says. */
void command_note(struct serve *s, const char *spec, int error, const char *why);
/* Of the first order that this server is to follow: waits until it is known whether it was refused
 * (as command_refused()), for COMMAND_NS at most; then it may still be. */
void command_await_first(struct serve *s, char ret_spec[COMMAND_TEXT], char ret_why[COMMAND_TEXT]);
/* Why what was told last was refused; "" if it was not. */
int command_error(struct serve *s, struct buf *ret) DL_MUST_CHECK;
/* Which order was refused last, and why; "" twice if the last was not. */
void command_refused(struct serve *s, char ret_spec[COMMAND_TEXT], char ret_why[COMMAND_TEXT]);
