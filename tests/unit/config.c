#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <string.h>

#include "config/config.h"

static struct config *c;
static struct config_error e;

static void set_up(void)
{
	cr_assert_eq(config_new(&c), 0);
}

static void tear_down(void)
{
	config_free(c);
}

TestSuite(config, .init = set_up, .fini = tear_down);

static int yaml(const char *text)
{
	return config_parse_yaml(c, (struct bytes){ text, strlen(text) }, &e);
}

Test(config, has_the_defaults_of_the_table)
{
	cr_assert_str_eq(c->source, "");
	cr_assert_str_eq(c->order, "auto");
	cr_assert_eq(c->memory, 0u, "auto");
	cr_assert_eq(c->chunk, 8 * MiB);
	cr_assert_eq(c->verify_ttl, UINT64_C(60000000000));
	cr_assert_eq(c->observe, OBSERVE_AUTO);
	cr_assert_eq(c->verify, VERIFY_MOUNT);
	cr_assert_eq(c->log_level, CONFIG_LOG_INFO);
	cr_assert(!c->allow_other && !c->allow_root && !c->nonempty && !c->no_default_permissions);
	cr_assert_null(c->fsname);
	cr_assert_null(c->subtype);
}

Test(config, reads_every_kind_from_yaml)
{
	cr_assert_eq(yaml("# a comment\n"
			  "source: /data/a b\nmemory: 1.5 GiB\nlead: 64\nobserve: inotify\n"
			  "verify: ttl\nverify_ttl: 2h\nlog_level: \"debug\"\n"
			  "order: 'torch-distributed:seed=1,world=2,ranks=0'\n"), 0, "%s", e.text);
	cr_assert_str_eq(c->source, "/data/a b");
	cr_assert_eq(c->memory, 1536 * MiB);
	cr_assert_eq(c->lead, 64u);
	cr_assert_eq(c->observe, OBSERVE_INOTIFY);
	cr_assert_eq(c->verify, VERIFY_TTL);
	cr_assert_eq(c->verify_ttl, UINT64_C(7200000000000));
	cr_assert_eq(c->log_level, CONFIG_LOG_DEBUG);
	cr_assert_str_eq(c->order, "torch-distributed:seed=1,world=2,ranks=0");
}

Test(config, reads_groups)
{
	cr_assert_str_eq(c->store_path, "");
	cr_assert_eq(c->store_size, 0u, "auto");
	cr_assert_eq(c->store_keep_free, 5 * GiB);
	cr_assert_eq(c->store_files, 0u);
	cr_assert_eq(yaml("lead: 2\nstore:\n  path: /nvme/dlfs\n  size: 200GiB\nthreads: 3\n"), 0,
		     "%s", e.text);
	cr_assert_str_eq(c->store_path, "/nvme/dlfs");
	cr_assert_eq(c->store_size, 200 * GiB);
	cr_assert_eq(c->threads, 3u);
	cr_assert_eq(yaml("store: {keep_free: 0, files: 500000}\nstore.size: 1TB\n"), 0, "%s",
		     e.text);
	cr_assert_eq(c->store_files, 500000u);
	cr_assert_eq(c->store_keep_free, 0u);
	cr_assert_eq(config_parse_options(c, "store.path=/x,store.size=auto", &e), 0, "%s", e.text);
	cr_assert_str_eq(c->store_path, "/x");
	setenv("HOME", "/home/me", 1);
	cr_assert_eq(yaml("store.path: ~/st\norder: ~/st\n"), 0, "%s", e.text);
	cr_assert_str_eq(c->store_path, "/home/me/st");
	cr_assert_str_eq(c->order, "~/st", "no path");
	unsetenv("HOME");
	cr_assert_eq(config_parse_options(c, "store.path=~/st", &e), 0, "%s", e.text);
	cr_assert_str_eq(c->store_path, "~/st");
	cr_assert_eq(c->store_size, 0u);
	cr_assert_eq(c->store_zstd, CONFIG_ZSTD_AUTO);
	cr_assert_eq(yaml("store: {zstd: off}\n"), 0, "%s", e.text);
	cr_assert_eq(c->store_zstd, CONFIG_ZSTD_OFF);
	cr_assert_eq(yaml("store: {zstd: 3}\n"), 0, "%s", e.text);
	cr_assert_eq(c->store_zstd, CONFIG_ZSTD_LEVEL + 2);
	cr_assert_eq(yaml("store: {zstd: 0}\n"), -EINVAL);
	cr_assert_eq(yaml("store: {}\n"), -EINVAL);
	cr_assert_eq(yaml("store: {pth: /x}\n"), -EINVAL);
	cr_assert_not_null(strstr(e.text, "did you mean store.path?"), "%s", e.text);
	cr_assert_eq(yaml("store: /x\n"), -EINVAL);
}

Test(config, takes_an_empty_file_and_one_of_comments)
{
	cr_assert_eq(config_parse_yaml(c, (struct bytes){ NULL, 0 }, &e), 0);
	cr_assert_eq(yaml("# nothing\n"), 0);
	cr_assert_eq(yaml("---\n"), 0);
	cr_assert_eq(yaml("{}\n"), 0);
}

Test(config, takes_a_file_from_an_editor_of_windows)
{
	cr_assert_eq(yaml("\xef\xbb\xbfmemory: 1GiB\r\nlead: 8\r\n"), 0, "%s", e.text);
	cr_assert_eq(c->memory, GiB);
	cr_assert_eq(c->lead, 8u);
}

struct refusal {
	char text[80];
	unsigned line, column;
	char says[64];
};

ParameterizedTestParameters(config, refuses_yaml_with_a_place_and_a_reason)
{
	static struct refusal cases[] = {
		{ "lead: 1\nmemroy: 8MiB\n", 2, 1, "did you mean memory?" },
		{ "lead: 1\nfrobnicate: 8MiB\n", 2, 1, "no setting \"frobnicate\"" },
		{ "a:\n  b: 1\n", 2, 3, "no setting \"a.b\"" },
		{ "a.b: 1\n", 1, 1, "no setting \"a.b\"" },
		{ "memory: 8Mix\n", 1, 9, "memory is a size, such as 8MiB" },
		{ "memory: 1KiB\n", 1, 9, "from 4MiB to 64TiB, or auto" },
		{ "chunk: 2GiB\n", 1, 8, "from 64KiB to 1GiB, not 2GiB" },
		{ "chunk: auto\n", 1, 8, "chunk is a size" },
		{ "lead: 0\n", 1, 7, "lead is from 1 to" },
		{ "lead: 99999999999999999999999\n", 1, 7, "lead is from 1 to" },
		{ "verify_ttl: 60\n", 1, 13, "time with its unit" },
		{ "observe: fan\n", 1, 10, "one of auto|fanotify|inotify|open|off" },
		{ "observe: auto|fanotify\n", 1, 10, "one of auto|fanotify" },
		{ "observe: \"\"\n", 1, 10, "one of auto|fanotify" },
		{ "memory: 8MiB\nlead: 2\nmemory: 9MiB\n", 3, 9, "memory is given twice" },
		{ "memory:\n", 1, 8, "memory has no value" },
		{ "order: ~\n", 1, 8, "order has no value" },
		{ "memory: {a: 1}\n", 1, 9, "takes one value" },
		{ "memory: [1]\n", 1, 9, "a list has no place here" },
		{ "keep: [a, [b]]\n", 1, 11, "a list has no place here" },
		{ "keep: [a, {b: c}]\n", 1, 11, "keep is a list of single values" },
		{ "keep: [a/**/b]\n", 1, 8, "** stands for whole folders only" },
		{ "keep: a, b\n", 1, 7, "several patterns are written keep: [a, b]" },
		{ "keep: [a]\nkeep: b\n", 2, 7, "keep is given twice" },
		{ "- memory\n", 1, 1, "a list has no place here" },
		{ "memory\n", 1, 1, "key: value" },
		{ "? {a: b}\n: c\n", 1, 3, "a key is the name" },
		{ "? \"\"\n: c\n", 1, 3, "a key is the name" },
		{ "memory: &x 8MiB\n", 1, 9, "anchors" },
		{ "memory: *x\n", 1, 9, "aliases" },
		{ "memory: !!str 8MiB\n", 1, 9, "tags" },
		{ "&x {lead: 1}\n", 1, 1, "anchors" },
		{ "lead: 1\n---\nlead: 2\n", 2, 1, "second document" },
		{ "store: {}\n", 1, 9, "store holds no setting" },
		{ "order: \"a\\0b\"\n", 1, 8, "NUL" },
		{ "a: {b: {c: {d: {e: {f: {g: {h: {i: 1}}}}}}}}\n", 1, 32, "nested more than 8" },
		{ "lead: 1\n\tmemory: 8MiB\n", 2, 1, "not YAML" },
		{ "memory: \"8MiB\n", 2, 1, "not YAML" },
		{ "order: torch: seed=7\n", 1, 13, "leave out the blank, as in order: torch:" },
	};
	return cr_make_param_array(struct refusal, cases, DL_COUNT(cases));
}

ParameterizedTest(struct refusal *x, config, refuses_yaml_with_a_place_and_a_reason)
{
	cr_assert_eq(yaml(x->text), -EINVAL, "%s", x->text);
	cr_assert_eq(e.line, x->line, "%s: line %u: %s", x->text, e.line, e.text);
	cr_assert_eq(e.column, x->column, "%s: column %u: %s", x->text, e.column, e.text);
	cr_assert_not_null(strstr(e.text, x->says), "%s: %s", x->text, e.text);
}

Test(config, refuses_bytes_that_are_no_text)
{
	cr_assert_eq(yaml("order: \"\xff\"\n"), -EINVAL);
	cr_assert_not_null(strstr(e.text, "not UTF-8"), "%s", e.text);
}

Test(config, changes_nothing_when_it_refuses)
{
	cr_assert_eq(yaml("memory: 8MiB\norder: sequential\nlead: x\n"), -EINVAL);
	cr_assert_eq(c->memory, 0u);
	cr_assert_str_eq(c->order, "auto");
	cr_assert_eq(config_parse_options(c, "memory=8MiB,allow_other,fsname=x,leda=1", &e),
		     -EINVAL);
	cr_assert_eq(c->memory, 0u);
	cr_assert(!c->allow_other);
	cr_assert_null(c->fsname);
}

Test(config, lets_later_settings_win)
{
	cr_assert_eq(yaml("memory: 8MiB\nlead: 5\n"), 0);
	cr_assert_eq(config_parse_options(c, "memory=9MiB,memory=10MiB", &e), 0);
	cr_assert_eq(c->memory, 10 * MiB);
	cr_assert_eq(c->lead, 5u);
	cr_assert_eq(config_set(c, "lead", "auto", &e), 0);
	cr_assert_eq(c->lead, 0u);
}

Test(config, reads_options)
{
	cr_assert_eq(config_parse_options(c, "memory=8MiB,order=list:/a\\,b\\\\c=d,,allow_other,"
					  "nonempty,no_default_permissions,fsname=a=b,subtype=dlfs",
					  &e), 0, "%s", e.text);
	cr_assert_eq(c->memory, 8 * MiB);
	cr_assert_str_eq(c->order, "list:/a,b\\c=d");
	cr_assert(c->allow_other && c->nonempty && c->no_default_permissions && !c->allow_root);
	cr_assert_str_eq(c->fsname, "a=b");
	cr_assert_str_eq(c->subtype, "dlfs");
	cr_assert_eq(config_parse_options(c, "default_permissions,allow_root", &e), 0);
	cr_assert(c->allow_root && !c->no_default_permissions);
	cr_assert_eq(config_parse_options(c, "", &e), 0);
}

Test(config, reads_and_prints_lists)
{
	dl_cleanup(buf_free) struct buf text = BUF_EMPTY;

	cr_assert_str_eq(c->keep, "");
	cr_assert_eq(yaml("keep: [train/dog, '*.jpg', \"a,b\"]\nnever:\n- val\n- x/**\n"), 0, "%s",
		     e.text);
	cr_assert_str_eq(c->keep, "train/dog\n*.jpg\na,b\n");
	cr_assert_str_eq(c->never, "val\nx/**\n");
	cr_assert_eq(config_print_yaml(c, NULL, 0, &text), 0);
	cr_assert_eq(yaml("keep: 'a, b'\n"), 0);
	cr_assert_str_eq(c->keep, "a, b\n");
	cr_assert_eq(yaml("keep: one\nnever: []\n"), 0);
	cr_assert_str_eq(c->keep, "one\n");
	cr_assert_str_eq(c->never, "");
	cr_assert_eq(config_parse_yaml(c, (struct bytes){ text.at, text.len }, &e), 0);
	cr_assert_str_eq(c->keep, "train/dog\n*.jpg\na,b\n");
	cr_assert_eq(config_parse_options(c, "keep=a\\,b/c,never=", &e), 0);
	cr_assert_str_eq(c->keep, "a\nb/c\n");
	cr_assert_str_eq(c->never, "");
	cr_assert_eq(config_parse_options(c, "keep=a/**/b", &e), -EINVAL);
	cr_assert_str_eq(c->keep, "a\nb/c\n");
}

Test(config, drops_what_is_for_mount_and_systemd)
{
	dl_cleanup(buf_free) struct buf before = BUF_EMPTY;
	dl_cleanup(buf_free) struct buf after = BUF_EMPTY;

	cr_assert_eq(config_print_yaml(c, NULL, 0, &before), 0);
	cr_assert_eq(config_parse_options(c, "rw,ro,nofail,_netdev,noauto,auto,user,users,owner,"
					  "user=me,defaults,x-systemd.requires=/a,comment=a b,"
					  "nosuid,nodev,noexec,relatime,noatime,dev,suid,,exec,",
					  &e), 0, "%s", e.text);
	cr_assert_eq(config_print_yaml(c, NULL, 0, &after), 0);
	cr_assert_eq(before.len, after.len);
	cr_assert_eq(memcmp(before.at, after.at, after.len), 0);
}

ParameterizedTestParameters(config, refuses_options_with_a_reason)
{
	static struct refusal cases[] = {
		{ "memory", 0, 0, "memory needs a value: memory=auto" },
		{ "png", 0, 0, "png needs a value: png=off|fast" },
		{ "store.path", 0, 0, "needs a value: store.path=path" },
		{ "memory=", 0, 0, "memory is a size" },
		{ "memroy=8MiB", 0, 0, "did you mean memory?" },
		{ "memroy", 0, 0, "did you mean memory?" },
		{ "remount", 0, 0, "unmount, then mount again" },
		{ "xyzzyq", 0, 0, "no option \"xyzzyq\"" },
		{ "fsname=", 0, 0, "fsname= needs a name" },
		{ "order=torch-distributed:seed=1,world=2", 0, 0, "seed=1\\,world=2'" },
		{ "world=2", 0, 0, "-o 'order=...\\,world=2'" },
		{ "seed=7", 0, 0, "order: write -o order=torch:seed=7" },
		{ "order=sequential,root=DIR", 0, 0, "colon: -o 'order=sequential:root=DIR'" },
		{ "order=sequential,roots=DIR", 0, 0, "-o 'order=sequential:root=DIR'" },
		{ "order=torch:seed=1,epochs=3", 0, 0, "seed=1\\,epochs=3'" },
		{ "leed=1", 0, 0, "did you mean lead?" },
		{ "order=auto,drop_last", 0, 0, "\"drop_last\" belongs to order" },
		{ "keep=a,b=c", 0, 0, "is written \\," },
		{ "=1", 0, 0, "no setting" },
	};
	return cr_make_param_array(struct refusal, cases, DL_COUNT(cases));
}

ParameterizedTest(struct refusal *x, config, refuses_options_with_a_reason)
{
	cr_assert_eq(config_parse_options(c, x->text, &e), -EINVAL, "%s", x->text);
	cr_assert_eq(e.line, 0u);
	cr_assert_not_null(strstr(e.text, x->says), "%s: %s", x->text, e.text);
}

Test(config, prints_what_it_can_read_again)
{
	dl_cleanup(buf_free) struct buf first = BUF_EMPTY;
	dl_cleanup(buf_free) struct buf second = BUF_EMPTY;

	cr_assert_eq(config_set(c, "source", "a\"b\\c\nd\x7f\xc2\x85\xe2\x80\xa8 # x: y ", &e), 0);
	cr_assert_eq(config_set(c, "memory", "100MB", &e), 0);
	cr_assert_eq(config_set(c, "verify", "never", &e), 0);
	cr_assert_eq(config_print_yaml(c, NULL, 0, &first), 0);
	config_free(c);
	set_up();
	cr_assert_eq(config_parse_yaml(c, (struct bytes){ first.at, first.len }, &e), 0, "%s",
		     e.text);
	cr_assert_str_eq(c->source, "a\"b\\c\nd\x7f\xc2\x85\xe2\x80\xa8 # x: y ");
	cr_assert_eq(c->memory, 100000000u);
	cr_assert_eq(c->verify, VERIFY_NEVER);
	cr_assert_eq(config_print_yaml(c, NULL, 0, &second), 0);
	cr_assert_eq(first.len, second.len);
	cr_assert_eq(memcmp(first.at, second.at, first.len), 0);
}

Test(config, says_beside_auto_what_it_comes_to)
{
	dl_cleanup(buf_free) struct buf text = BUF_EMPTY;
	static const struct config_note notes[] = {
		{ "memory", "7.45 GiB: here" }, { "store.size", "\"now\"" },
	};

	cr_assert_eq(config_set(c, "lead", "7", &e), 0);
	cr_assert_eq(config_print_yaml(c, notes, DL_COUNT(notes), &text), 0);
	cr_assert_not_null(strstr((char *)text.at, "\nmemory: auto  # 7.45 GiB: here\nlead: 7\n"),
			   "%s", (char *)text.at);
	cr_assert_eq(yaml((char *)text.at), 0, "%s", e.text);
	cr_assert_eq(c->memory, 0u, "auto");
	cr_assert_eq(c->store_size, 0u, "auto");
}

Test(config, names_the_file_and_the_place)
{
	char path[] = "/tmp/dlfs-config-XXXXXX", says[128];
	int fd = mkstemp(path);

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, "lead: 1\nmemroy: 1\n", 18), 18);
	close(fd);
	cr_expect_eq(config_load(c, path, &e), -EINVAL);
	unlink(path);
	snprintf(says, sizeof(says), "%s:2:1: there is no setting \"memroy\"; did you mean memory?",
		 path);
	cr_assert_str_eq(e.text, says);
	cr_assert_eq(e.line, 2u);
	cr_assert_eq(config_load(c, path, &e), -ENOENT);
	cr_assert_not_null(strstr(e.text, path));
	cr_assert_eq(config_load(c, "/", &e), -EISDIR);
}

Test(config, describes_every_setting_on_every_page)
{
	static const char *const keys[] = {
#define PARAM(field, ctype, key, ...) key,
#include "config/params.def"
#undef PARAM
	};
	int (*const print[])(struct buf *ret) = {
		config_print_help, config_print_reference, config_print_man,
	};

	for (size_t i = 0; i < DL_COUNT(print); i++) {
		dl_cleanup(buf_free) struct buf page = BUF_EMPTY;

		cr_assert_eq(print[i](&page), 0);
		for (size_t k = 0; k < DL_COUNT(keys); k++)
			cr_assert_not_null(strstr((char *)page.at, keys[k]), "%s", keys[k]);
	}
}
