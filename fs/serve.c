#include "fs/serve.h"

#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/pattern.h"
#include "fs/announce.h"
#include "fs/command.h"
#include "fs/control.h"
#include "fs/early.h"
#include "fs/errand.h"
#include "fs/fuse.h"
#include "fs/notify.h"
#include "fs/pressure.h"
#include "fs/push.h"
#include "fs/refresh.h"
#include "fs/survey.h"
#include "fs/unmatched.h"
#include "fs/unreadable.h"
#include "fs/warm.h"
#include "fs/watch/watch.h"

#define REQUEST_THREADS_MAX 256
#define PUSH_THREADS 2
#define FOREVER 1e9                    /* seconds: what the manifest knows does not change */
#define MALLOC_MOST (4 * (int)MiB)      /* what is larger goes back to the system at once */
#define SETTLE (2 * CLOCK_S)            /* the slowest clock of a file system: vfat's */
#define PATIENCE (10 * CLOCK_S)         /* with the planner: reports and orders wait for it */
#define SAVE_EVERY (60 * CLOCK_S)
#define NEVER (1000000000 * CLOCK_S)
#define OPCODE_INIT 26
#define NOTIFY_RESEND 7                /* FUSE_NOTIFY_RESEND, protocol 7.40 */
#define WAKE_SIGNAL SIGUSR2

struct requests {                      /* the threads that answer */
	struct serve *serve;
	pthread_t threads[REQUEST_THREADS_MAX];
	unsigned count;
	_Atomic unsigned running;
	pthread_t main;
};

/* --- The session ----------------------------------------------------------------------- */

static int open_session(struct serve *s)
{
	char name[] = "dlfs", allow_root[] = "-oallow_root", fd[32];
	char *argv[] = { name, allow_root, NULL };
	struct fuse_args args = FUSE_ARGS_INIT(s->options->config->allow_root ? 2 : 1, argv);

	s->session = fuse_session_new(&args, &serve_ops, sizeof(serve_ops), s);
	fuse_opt_free_args(&args);
	if (!s->session)
		return -EINVAL;
	snprintf(fd, sizeof(fd), "/dev/fd/%d", s->options->fuse_fd);
	return fuse_session_mount(s->session, fd) < 0 ? -EIO : 0;
}

/* The first server keeps the kernel's INIT for those that may have to take over. */
static int answer_init(struct serve *s)
{
	struct shared *shared = s->options->shared;
	struct fuse_buf request = { .mem = NULL };
	uint32_t head[2];
	int len = fuse_session_receive_buf(s->session, &request);

	if (len <= 0) {
		free(request.mem);
		return len < 0 ? len : -ENOTCONN;
	}
	memcpy(head, request.mem, sizeof(head));
	if (head[1] == OPCODE_INIT && (size_t)len <= SHARED_INIT_MAX) {
		memcpy(shared->init, request.mem, (size_t)len);
		shared->init_len = (uint32_t)len;
	}
	fuse_session_process_buf(s->session, &request);
	free(request.mem);
	return 0;
}

/* A later server hears INIT again; the kernel takes no notice of the second answer.  Then it is
 * asked for the requests that the dead server had taken and not answered. */
static int replay_init(struct serve *s)
{
	struct shared *shared = s->options->shared;
	struct fuse_buf request = { .mem = shared->init, .size = shared->init_len };
	struct { uint32_t len, error; uint64_t unique; } resend = { 16, NOTIFY_RESEND, 0 };

	fuse_session_process_buf(s->session, &request);
	if (write(s->options->fuse_fd, &resend, sizeof(resend)) < 0)
		log_warning("the kernel does not send open requests again: %s", strerror(errno));
	return 0;
}

static int begin_session(struct serve *s)
{
	int r = open_session(s);

	if (r < 0)
		return r;
	if (s->options->replacement)
		manifest_take_over(s->manifest);
	return s->options->replacement && s->options->shared->init_len ? replay_init(s)
								       : answer_init(s);
}

/* --- Request threads -------------------------------------------------------------------- */

static void *request_main(void *arg)
{
	struct requests *q = arg;
	struct fuse_session *session = q->serve->session;
	struct fuse_buf request = { .mem = NULL };

	while (!fuse_session_exited(session)) {
		int len = fuse_session_receive_buf(session, &request);

		if (len == -EINTR || len == -EAGAIN)
			continue;
		if (len <= 0)
			break;
		fuse_session_process_buf(session, &request);
	}
	free(request.mem);
	/* The mount has ended: the whole process has. */
	if (!q->serve->stopping)
		pthread_kill(q->main, SIGTERM);
	q->running--;
	return NULL;
}

static unsigned thread_count(const struct config *c)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	if (c->threads)
		return (unsigned)DL_MIN(c->threads, (uint64_t)REQUEST_THREADS_MAX);
	return cores < 1 ? 2 : (unsigned)DL_MIN(cores * 2, 16);
}

static int start_requests(struct serve *s, struct requests *q)
{
	unsigned want = thread_count(s->options->config);

	q->serve = s;
	q->main = pthread_self();
	s->threads = want;
	for (q->count = 0; q->count < want; q->count++) {
		q->running++;
		if (pthread_create(&q->threads[q->count], NULL, request_main, q) != 0) {
			q->running--;
			break;
		}
	}
	return q->count > 0 ? 0 : -EAGAIN;
}

/* A thread may be just about to read when the signal comes: so it is sent until all have heard. */
static void stop_requests(struct serve *s, struct requests *q)
{
	if (s->session)
		fuse_session_exit(s->session);
	while (q->running > 0) {
		for (unsigned i = 0; i < q->count; i++)
			pthread_kill(q->threads[i], WAKE_SIGNAL);
		usleep(1000);
	}
	for (unsigned i = 0; i < q->count; i++)
		pthread_join(q->threads[i], NULL);
}

/* --- Parts -------------------------------------------------------------------------------- */

/* On a local disk it needs no room in memory. */
static bool is_pinned(void *context, sample_id id)
{
	const struct serve *s = context;
	dl_cleanup(buf_free) struct buf path = BUF_EMPTY;

	return manifest_path(s->manifest, node_of_sample(id), &path) == 0 &&
		pattern_any(s->options->config->keep, (char *)path.at);
}

static int start_engine(struct serve *s)
{
	const struct config *c = s->options->config;
	struct engine_options o = {
		.manifest = s->manifest, .sink = push_sink(s->push), .stats = s->stats,
		.lessons_file = s->options->lessons_file, .served = s->served,
		.standing = &s->options->shared->standing,
		.judge = &s->options->shared->judge,
		.memory = s->options->memory - s->tier.queue - served_room(s->served),
		.chunk = c->chunk,
		.lead = (uint32_t)c->lead, .stale = survey_stale, .context = s,
		.patience = PATIENCE, .heir = s->options->replacement,
		.pinned = *c->keep && !s->tier.disk ? is_pinned : NULL, .fits = pressure_fits,
	};
	struct source_options source = {
		.manifest = s->manifest, .layers = c->source_layers, .disk = s->tier.disk,
		.current = &s->options->shared->checked, .settle = SETTLE,
		.meter = &s->tier.meter, .served = s->served,
	};
	int r = source_open(&source, &o.source);

	if (r < 0)
		return r;
	r = engine_start(&o, &s->engine);
	if (r < 0)
		source_close(o.source);
	return r;
}

static int start_parts(struct serve *s)
{
	int r = tier_open(s);

	if (r == 0)
		r = push_start(s, PUSH_THREADS, &s->push);
	if (r == 0)
		r = start_engine(s);
	if (r == 0)
		r = pressure_start(s, &s->pressure);
	if (r == 0)
		r = announce_start(s, &s->announce);
	if (r == 0)
		r = notify_start(s, &s->notify);
	if (r == 0)
		r = errands_start(s, &s->errands);
	if (r == 0)
		r = errands_start(s, &s->awaited);
	if (r == 0)
		r = warm_start(s, &s->warm);
	if (r == 0)
		r = early_start(&s->early);
	if (r == 0)
		r = control_start(&s->control);
	return r;
}

/* Whatever asks the mount for something stops first, while requests are still answered. */
static void stop_parts(struct serve *s, struct requests *q)
{
	s->stopping = true;
	watch_stop(s->watch);
	warm_stop(s->warm);
	errands_stop(s->errands);      /* first: the others may wait for a place among them */
	errands_stop(s->awaited);
	notify_stop(s->notify);
	push_quieten(s->push);
	stop_requests(s, q);
	announce_stop(s->announce);
	pressure_stop(s->pressure);
	if (s->engine)
		engine_stop(s->engine);
	announce_free(s->announce);
	notify_free(s->notify);
	survey_save_served(s);
	tier_close(s);
	errands_free(s->errands);
	errands_free(s->awaited);
	warm_free(s->warm);
	push_stop(s->push);
	watch_free(s->watch);
	early_stop(s->early);
	control_stop(s->control);
	if (s->session)
		fuse_session_destroy(s->session);
}

/* A list or a folder that is not in the dataset is told to who mounts, if that is found out soon;
 * other orders are not refused once they could be read.  A problem of the store is said first. */
static void note_refused(struct serve *s)
{
	const char *order = s->options->config->order;
	char *note = s->options->shared->note, spec[COMMAND_TEXT], why[COMMAND_TEXT];

	if (*note || (strncmp(order, "list:", 5) != 0 && !strstr(order, "root=")))
		return;
	command_await_first(s, spec, why);
	if (*spec)
		snprintf(note, sizeof(s->options->shared->note),
			 "the order %.100s was refused, nothing is fetched ahead: %.220s", spec,
			 why);
}

/* One sentence, the first of them. */
static void note_amiss(struct serve *s)
{
	char *note = s->options->shared->note;

	note_refused(s);
	if (!*note)
		unreadable_note(s, note, sizeof(s->options->shared->note));
	if (!*note && !survey_failed(s, note))
		unmatched_note(s, note, sizeof(s->options->shared->note));
}

static int begin(struct serve *s, struct requests *q)
{
	struct watch *w;
	int r = start_parts(s);

	if (r == 0)
		r = begin_session(s);
	if (r == 0)
		survey_load(s);
	if (r == 0)
		r = start_requests(s, q);
	if (r == 0)
		r = watch_start(s, &w);
	if (r < 0)
		return r;
	s->watch = w;
	push_mounted(s->push);
	r = survey_begin(s);
	if (r == 0 && !s->options->replacement)
		note_amiss(s);
	s->options->shared->answering = r == 0;
	return r;
}

/* A folder of many files is read into buffers that are large for a moment.  Without this glibc
 * would keep them, and all that is as large later, for each thread that has done so. */
static void bound_malloc(void)
{
	mallopt(M_MMAP_THRESHOLD, MALLOC_MOST);
	mallopt(M_TRIM_THRESHOLD, MALLOC_MOST / 2);
}

/* --- The process ---------------------------------------------------------------------------- */

static void do_nothing(int signal)
{
	(void)signal;
}

static void block_signals(sigset_t *ret)
{
	struct sigaction wake = { .sa_handler = do_nothing };   /* without SA_RESTART */

	sigaction(WAKE_SIGNAL, &wake, NULL);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(ret);
	sigaddset(ret, SIGTERM);
	sigaddset(ret, SIGINT);
	sigaddset(ret, SIGHUP);
	pthread_sigmask(SIG_BLOCK, ret, NULL);
}

static int wait_until(const sigset_t *signals, uint64_t deadline)
{
	uint64_t now = clock_now(), left = deadline > now ? deadline - now : 0;

	return sigtimedwait(signals, NULL, &(struct timespec){
		.tv_sec = (time_t)(left / CLOCK_S), .tv_nsec = (long)(left % CLOCK_S) });
}

static void wait_for_end(struct serve *s, const sigset_t *signals)
{
	const struct config *c = s->options->config;
	uint64_t ttl = c->verify == VERIFY_TTL ? c->verify_ttl : NEVER;
	uint64_t check = clock_now() + ttl, save = clock_now() + SAVE_EVERY;

	while (wait_until(signals, DL_MIN(check, save)) <= 0) {
		uint64_t now = clock_now();

		if (now >= check && refresh_check(s) < 0)
			log_debug("a check of the source is still to be done");
		if (now >= check)
			check = now + ttl;
		if (now >= save)
			survey_save_served(s);
		save = now >= save ? now + SAVE_EVERY : save;
	}
}

int serve_run(const struct serve_options *options)
{
	struct serve s = {
		.options = options, .manifest = options->manifest, .served = options->served,
		.stats = &options->shared->stats,
		.entry_timeout = FOREVER,
		.negative_timeout = (double)options->config->verify_ttl / (double)CLOCK_S,
	};
	struct requests requests = { .running = 0 };
	sigset_t signals;
	int r;

	options->shared->error[0] = '\0';
	bound_malloc();
	block_signals(&signals);
	r = begin(&s, &requests);
	if (r == 0)
		wait_for_end(&s, &signals);
	else if (!options->shared->error[0])
		snprintf(options->shared->error, sizeof(options->shared->error),
			 "%s: the mount could not be served: %s", options->mountpoint,
			 strerror(-r));
	if (r < 0 && options->replacement)     /* nobody waits for it any more */
		log_error("%s", options->shared->error);
	stop_parts(&s, &requests);
	return r == 0 ? 0 : 1;
}
