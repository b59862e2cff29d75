#include "fs/supervise.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/log.h"

#define START_DEADLINE (60 * CLOCK_S)  /* until the first answer */
#define LEAVE_DEADLINE (4 * CLOCK_S)   /* for a server that was asked to leave */
#define KILL_DEADLINE (CLOCK_S / 2)    /* for one that was killed, before its mount is ended */
#define GONE_DEADLINE (10 * CLOCK_S)   /* and after that */
#define LOOK_AGAIN (20 * CLOCK_MS)
#define LOOK_AFTER (500 * CLOCK_MS)    /* at a server that runs */
#define PARTS_LOOKS 10                 /* at what is left of one */

#define DEATHS_MAX 10
#define DEATHS_WITHIN (10 * CLOCK_S)

#define EXIT_FAILED 1

struct supervisor {
	struct serve_options *options;
	struct shared *shared;
	struct mount *mount;
	int ready_fd;
	pid_t server;                  /* 0: none */
	int ended;                     /* how the last one did, as from waitpid() */
	sigset_t signals, outside;     /* ours; the mask from before */
	uint64_t deaths[DEATHS_MAX];   /* times of the last ones, in a circle */
	unsigned death_count;
};

/* --- What happens --------------------------------------------------------------------- */

/* The next signal, or 0 at the deadline. */
static int next_signal(const struct supervisor *s, uint64_t deadline)
{
	uint64_t now = clock_now(), left = deadline > now ? deadline - now : 0;
	struct timespec t = { (time_t)(left / CLOCK_S), (long)(left % CLOCK_S) };
	int signal = sigtimedwait(&s->signals, NULL, &t);

	return signal > 0 ? signal : 0;
}

static bool wants_us_to_leave(int signal)
{
	return signal == SIGTERM || signal == SIGINT || signal == SIGHUP;
}

/* True: the server is gone, and how.  Former ones, of which a thread was left, may go as well. */
static bool reap(struct supervisor *s, int *ret_status)
{
	pid_t gone;

	while (s->server != 0 && (gone = waitpid(-1, ret_status, WNOHANG)) > 0)
		if (gone == s->server) {
			s->server = 0;
			s->ended = *ret_status;
			return true;
		}
	return false;
}

/* True: it was killed, and a thread of it cannot be: it waits in the kernel for the lock of a
 * folder, to make the kernel forget a name there, and whoever has the lock waits for an answer that
 * only the next server can give.  Its first thread is dead then, and nobody is told. */
static bool is_dead_in_part(pid_t pid, int *ret_status)
{
	char path[40], line[1024], state = 0;
	const char *after, *last;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (!fgets(line, sizeof(line), f))
		line[0] = 0;
	fclose(f);
	after = strrchr(line, ')');    /* of its name */
	last = strrchr(line, ' ');     /* exit_code, as from waitpid() */
	if (!after || sscanf(after + 1, " %c", &state) != 1 || state != 'Z')
		return false;
	*ret_status = (int)strtol(last, NULL, 10);
	return true;
}

/* The other threads need a moment more, those that can go. */
static bool lose_part(struct supervisor *s, int *ret_status)
{
	struct timespec wait = { .tv_nsec = LOOK_AGAIN };

	if (s->server == 0 || !is_dead_in_part(s->server, ret_status))
		return false;
	for (int i = 0; i < PARTS_LOOKS; i++) {
		nanosleep(&wait, NULL);
		if (reap(s, ret_status))
			return true;
	}
	s->server = 0;
	return true;
}

static void say_ready(struct supervisor *s)
{
	char text[1 + sizeof(s->shared->note)] = "";
	ssize_t n;

	snprintf(text + 1, sizeof(text) - 1, "%s", s->shared->note);
	n = s->ready_fd < 0 ? 1 : write(s->ready_fd, text, 1 + strlen(text + 1));

	/* Who asked for the mount gave up before it was there. */
	if (n < 0)
		raise(SIGTERM);
	dl_closep(&s->ready_fd);
	s->ready_fd = -1;
}

static void say_error(struct supervisor *s, const char *text)
{
	if (s->ready_fd < 0 || write(s->ready_fd, text, strlen(text)) < 0)
		log_error("%s", text);
	dl_closep(&s->ready_fd);
	s->ready_fd = -1;
}

/* --- The server ----------------------------------------------------------------------- */

_Noreturn static void serve(struct supervisor *s, pid_t parent)
{
	int code;

	dl_closep(&s->ready_fd);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		raise(SIGTERM);
	sigprocmask(SIG_SETMASK, &s->outside, NULL);
	code = serve_run(s->options);
	if (getppid() != parent)
		mount_detach(s->mount);
	_exit(code);
}

static int start_server(struct supervisor *s)
{
	pid_t parent = getpid(), pid;

	fflush(NULL);
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0)
		serve(s, parent);
	s->server = pid;
	return 0;
}

/* FUSE_NOTIFY_RESEND came with protocol 7.40; the kernel's INIT says what it speaks: a header
 * of 40 bytes, then major and minor. */
static bool kernel_resends(const struct shared *shared)
{
	uint32_t version[2];

	if (shared->init_len < 40 + sizeof(version))
		return false;
	memcpy(version, shared->init + 40, sizeof(version));
	return version[0] == 7 && version[1] >= 40;
}

static int mount_again(struct supervisor *s)
{
	char text[REFUSE_MAX];
	int r;

	log_warning("this kernel cannot hand over open requests (6.9 can): mounting again");
	mount_close(DL_TAKE(s->mount));
	s->shared->init_len = 0;
	s->shared->answering = false;
	r = mount_open(s->options->config, &s->mount, text);
	if (r < 0) {
		log_error("%s", text);
		return r;
	}
	s->options->fuse_fd = mount_fd(s->mount);
	return 0;
}

/* Whether this was one death too many in a short time. */
static bool dies_too_often(struct supervisor *s)
{
	uint64_t now = clock_now(), *oldest = &s->deaths[s->death_count % DEATHS_MAX];
	bool too_often = s->death_count >= DEATHS_MAX && now - *oldest < DEATHS_WITHIN;

	*oldest = now;
	s->death_count++;
	return too_often;
}

/* Its own, not a kill from outside. */
static bool was_fault(int status)
{
	return !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL;
}

/* "signal 11", "exit code 1". */
static const char *how_it_ended(int status, char text[32])
{
	snprintf(text, 32, "%s %d", WIFSIGNALED(status) ? "signal" : "exit code",
		 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	return text;
}

static int replace_server(struct supervisor *s, int status)
{
	char how[32];
	int r = 0;

	log_warning("the serving process ended with %s; another one takes over",
		    how_it_ended(status, how));
	if (dies_too_often(s)) {
		log_error("the serving process died more than %d times in 10 s: giving up",
			  DEATHS_MAX);
		return -ELOOP;
	}
	stats_add(&s->shared->stats.restarts, 1);
	s->options->replacement = true;
	s->shared->crashed = was_fault(status);
	if (!kernel_resends(s->shared))
		r = mount_again(s);
	return r < 0 ? r : start_server(s);
}

/* --- Leaving -------------------------------------------------------------------------- */

/* Wait for the server to be gone; a signal to leave again ends the patience. */
static bool wait_for_server(struct supervisor *s, uint64_t patience)
{
	uint64_t deadline = clock_now() + patience;
	int status, signal;

	while (s->server != 0 && !reap(s, &status)) {
		signal = next_signal(s, deadline);
		if (wants_us_to_leave(signal) || clock_now() >= deadline)
			break;
	}
	return s->server == 0 || reap(s, &status);
}

/* A fault on the way out harms nobody any more, but it is one. */
static int judge_end(const struct supervisor *s)
{
	char how[32];

	if (WIFSIGNALED(s->ended) ? wants_us_to_leave(WTERMSIG(s->ended))
				  : WEXITSTATUS(s->ended) == 0)
		return 0;
	log_warning("the serving process ended with %s when it was to leave",
		    how_it_ended(s->ended, how));
	return EXIT_FAILED;
}

static void end_connection(const struct supervisor *s)
{
	dl_cleanup(dl_closep) int file = mount_open_abort(mount_minor(s->mount));

	if (!mount_ended(s->mount))
		mount_abort(file);
}

/* The exit code. */
static int leave(struct supervisor *s)
{
	mount_detach(s->mount);
	if (s->server == 0)
		return 0;
	kill(s->server, SIGTERM);
	if (wait_for_server(s, LEAVE_DEADLINE))
		return judge_end(s);
	log_warning("the serving process does not leave: killing it");
	kill(s->server, SIGKILL);
	/* A thread that waits for a page which only its own process could fill cannot even be
	 * killed; the end of the connection frees it. */
	if (!wait_for_server(s, KILL_DEADLINE)) {
		end_connection(s);
		/* On a busy machine it takes a while to go, and has its store until then. */
		(void)wait_for_server(s, GONE_DEADLINE);
	}
	return 0;
}

static int fail_start(struct supervisor *s, int status)
{
	char text[80], how[32];

	snprintf(text, sizeof(text), "the serving process ended at its start with %s",
		 how_it_ended(status, how));
	mount_detach(s->mount);
	say_error(s, s->shared->error[0] ? s->shared->error : text);
	return EXIT_FAILED;
}

/* --- The loop ------------------------------------------------------------------------- */

/* What the starter ignores (nohup, a script's background) stays ignored: once blocked, it
 * would be reported to us all the same. */
static void listen_to(struct supervisor *s, int number)
{
	struct sigaction now;

	if (sigaction(number, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
		sigaddset(&s->signals, number);
}

static void prepare_signals(struct supervisor *s)
{
	signal(SIGCHLD, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&s->signals);
	sigaddset(&s->signals, SIGCHLD);
	sigaddset(&s->signals, SIGTERM);
	listen_to(s, SIGINT);
	listen_to(s, SIGHUP);
	sigprocmask(SIG_BLOCK, &s->signals, &s->outside);
	/* Whatever mask the starter left: these must reach the server. */
	sigdelset(&s->outside, SIGTERM);
	sigdelset(&s->outside, SIGCHLD);
}

static int fail_slow_start(struct supervisor *s, const char *text)
{
	(void)leave(s);
	say_error(s, text);
	return EXIT_FAILED;
}

/* Until the first answer.  False: all has ended, with this exit code. */
static bool wait_for_answer(struct supervisor *s, int *ret_code)
{
	uint64_t deadline = clock_now() + START_DEADLINE;
	int status;

	while (!s->shared->answering) {
		if (reap(s, &status)) {
			*ret_code = fail_start(s, status);
			return false;
		}
		if (wants_us_to_leave(next_signal(s, clock_now() + LOOK_AGAIN))) {
			/* Who looks at the mount may have had an answer before all is said. */
			*ret_code = s->ready_fd < 0 ? leave(s) :
				fail_slow_start(s, "stopped by a signal before the mount answered");
			return false;
		}
		if (clock_now() > deadline) {
			*ret_code = fail_slow_start(s, "the serving process did not answer within "
						    "60 s");
			return false;
		}
	}
	say_ready(s);
	return true;
}

static int watch_over(struct supervisor *s)
{
	int status;

	for (;;) {
		if (!reap(s, &status) && !lose_part(s, &status)) {
			uint64_t deadline = clock_now() + LOOK_AFTER;

			if (!wants_us_to_leave(next_signal(s, deadline)))
				continue;
			return leave(s);
		}
		if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
			return 0;
		if (replace_server(s, status) < 0) {
			(void)leave(s);
			return EXIT_FAILED;
		}
	}
}

int supervise_run(struct serve_options *options, struct mount *mount, int ready_fd)
{
	struct supervisor s = {
		.options = options, .shared = options->shared, .mount = mount,
		.ready_fd = ready_fd,
	};
	int r;

	prepare_signals(&s);
	r = start_server(&s);
	if (r < 0) {
		say_error(&s, "cannot start the serving process: no process or memory left");
		mount_close(s.mount);
		return EXIT_FAILED;
	}
	if (wait_for_answer(&s, &r))
		r = watch_over(&s);
	mount_close(s.mount);
	return r;
}
