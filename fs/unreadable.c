#include "fs/unreadable.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

#define ASK 1000
#define MOMENT_NS (CLOCK_S / 4)
#define LOOK_US 1000

struct unread {
	uint64_t folders, files;
	node_id first;                 /* of the folders, else of the files */
	unsigned asked;
	bool modes_lie;                /* one that was asked for may be read after all */
};

static bool mode_allows(const struct attr *a)
{
	if (a->uid == geteuid())
		return a->mode & S_IRUSR;
	return a->mode & (group_member(a->gid) ? S_IRGRP : S_IROTH);
}

static bool access_allows(const struct serve *s, node_id node)
{
	dl_cleanup(buf_free) struct buf path = BUF_EMPTY;

	if (manifest_path(s->manifest, node, &path) < 0)
		return true;
	return faccessat(manifest_root_fd(s->manifest), (char *)path.at, R_OK, AT_EACCESS) == 0 ||
		errno != EACCES;
}

/* To ask for each of millions would keep orders waiting. */
static bool is_allowed_anyway(const struct serve *s, node_id node, struct unread *u)
{
	bool allowed;

	if (u->asked == ASK)
		return u->modes_lie;
	allowed = access_allows(s, node);
	u->asked++;
	u->modes_lie |= allowed;
	return allowed;
}

static void look_at_files(const struct serve *s, struct unread *ret)
{
	uint32_t entries = manifest_entries(s->manifest);
	struct attr a;

	for (sample_id id = 0; id < entries && !s->stopping; id++) {
		if (manifest_attr(s->manifest, node_of_sample(id), &a) < 0 ||
		    !S_ISREG(a.mode) || mode_allows(&a) || !manifest_is_newest(s->manifest, id) ||
		    is_allowed_anyway(s, a.node, ret))
			continue;
		if (ret->files++ == 0 && ret->folders == 0)
			ret->first = a.node;
	}
}

const char *unreadable_count(uint64_t folders, uint64_t files, char ret[64])
{
	char some[32] = "", others[32] = "";

	if (folders > 0)
		snprintf(some, sizeof(some), "%llu folder%s", (unsigned long long)folders,
			 folders == 1 ? "" : "s");
	if (files > 0)
		snprintf(others, sizeof(others), "%llu file%s", (unsigned long long)files,
			 files == 1 ? "" : "s");
	snprintf(ret, 64, "%s%s%s", some, folders && files ? " and " : "", others);
	return ret;
}

static void say(struct serve *s, const struct unread *f)
{
	dl_cleanup(buf_free) struct buf path = BUF_EMPTY;
	char count[64], text[sizeof(s->unreadable)];

	if (manifest_path(s->manifest, f->first, &path) < 0)
		return;
	snprintf(text, sizeof(text),
		 "%s of the source may not be read by uid %u%s %.100s; mount as who may, or change "
		 "the modes",
		 unreadable_count(f->folders, f->files, count), (unsigned)geteuid(),
		 f->folders + f->files == 1 ? ":" : ", the first is", (char *)path.at);
	log_warning("%s", text);
	if (!s->looked)                /* later the main thread may be reading it */
		memcpy(s->unreadable, text, sizeof(text));
}

void unreadable_look(struct serve *s)
{
	struct stats *to = s->stats;
	uint64_t before = stats_get(&to->unreadable_folders) + stats_get(&to->unreadable_files);
	struct unread f = { .folders = manifest_refused(s->manifest, &f.first) };

	if (geteuid() != 0)            /* who may read all */
		look_at_files(s, &f);
	stats_set(&to->unreadable_folders, f.folders);
	stats_set(&to->unreadable_files, f.files);
	if (f.folders + f.files > before)
		say(s, &f);
	s->looked = true;
}

void unreadable_note(struct serve *s, char *ret, size_t size)
{
	uint64_t deadline = clock_now() + MOMENT_NS;

	while (!s->looked && clock_now() < deadline)
		usleep(LOOK_US);
	snprintf(ret, size, "%s", s->looked ? s->unreadable : "");
}
