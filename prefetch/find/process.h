/* Who started a process, from /proc (proc_pid_stat(5)).  Workers of one DataLoader have one parent:
 * the program, where they are forked or spawned; else the fork server that is this program's.
 *
 * Only a hint: pids are those of our namespace, a mounted /proc may be of another, and a process
 * may be gone, or its parent, so that it has become a child of init.
 *
 * Thread-safety: any thread.  One read of a small file, which no file system delays.
 */
#pragma once
#include "base/dl.h"

uint32_t process_parent(uint32_t pid);         /* 0: not known */
