"""Rules that the compiler does not know.  `lint.py RULE ROOT [COMPILER…]`; exit code 1 and one
line a finding where a rule is broken."""
import os
import re
import subprocess
import sys

FILE_MAX, FUNCTION_MAX = 500, 60
C_COLUMNS, OTHER_COLUMNS = 100, 120
FOLDERS = ["base", "config", "prefetch", "fs", "tests"]
CODE = (".c", ".h", ".def", ".py", ".sh")
TEXT = CODE + (".build", ".yaml", ".txt")

# What a folder may include from, itself among it; tests may use everything.
LAYERS = {
    "base": {"base"},
    "config": {"base", "config"},
    "prefetch": {"base", "config", "prefetch"},
    "fs": {"base", "config", "prefetch", "fs"},
    "tests": set(FOLDERS),
}
# Parts that decide: no I/O, no clock, no lock.
PURE = ("prefetch/order/", "prefetch/plan/", "prefetch/keep/", "prefetch/recode/")
IMPURE = {"pthread.h", "unistd.h", "time.h", "fcntl.h", "threads.h", "base/lock.h",
          "base/mailbox.h", "base/log.h"}
# A library is known to one file, so that it can be replaced there.
THIRD_PARTY = re.compile(r"^(yaml|xxhash|liburing|lmdb|zstd|turbojpeg)\.h$|^json-c/|^json\.h$")


def files(root, suffixes):
    found = []
    for top in FOLDERS:
        for folder, below, names in os.walk(os.path.join(root, top)):
            below[:] = sorted(b for b in below if b not in ("corpus", "__pycache__"))
            found += [os.path.relpath(os.path.join(folder, n), root) for n in sorted(names)
                      if n.endswith(suffixes)]
    return found + [n for n in ("run", "test", "meson.build") if os.path.exists(f"{root}/{n}")]


def lines_of(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as f:
        return f.read().split("\n")


def check_lines(root):
    for path in files(root, TEXT):
        lines = lines_of(root, path)
        if lines[-1] != "":
            yield f"{path}:{len(lines)}: no newline at the end"
        elif len(lines) > 1 and lines[-2] == "":
            yield f"{path}:{len(lines) - 1}: blank lines at the end"
        if path.endswith(CODE) and len(lines) - 1 > FILE_MAX:
            yield f"{path}: {len(lines) - 1} lines, more than {FILE_MAX}"
        limit = C_COLUMNS if path.endswith((".c", ".h", ".def")) else OTHER_COLUMNS
        for number, line in enumerate(lines, 1):
            if line != line.rstrip():
                yield f"{path}:{number}: blanks at the end"
            if len(line.expandtabs(8)) > limit:
                yield f"{path}:{number}: {len(line.expandtabs(8))} columns, more than {limit}"


def check_words(root):
    later = re.compile(r"\b(TO" r"DO|FIX" r"ME)\b")
    for path in files(root, TEXT):
        for number, line in enumerate(lines_of(root, path), 1):
            if later.search(line):
                yield f"{path}:{number}: do it now, or open an issue: {line.strip()}"


def functions(lines):
    """(first line, last line) of each function, by the braces in the first column."""
    start = None
    for number, line in enumerate(lines, 1):
        if line == "{":
            start = number
            while start > 1 and re.match(r"[\w\t ]", lines[start - 2]):
                start -= 1
        elif line.startswith("}") and start:
            yield start, number
            start = None


def check_functions(root):
    for path in files(root, (".c", ".h")):
        if not path.endswith((".c", ".h")) or path.startswith("tests/"):
            continue
        for first, last in functions(lines_of(root, path)):
            if last - first + 1 > FUNCTION_MAX:
                yield f"{path}:{first}: a function of {last - first + 1} lines, " \
                      f"more than {FUNCTION_MAX}"


def includes(root, suffixes):
    for path in files(root, suffixes):
        if not path.endswith(suffixes):
            continue
        for number, line in enumerate(lines_of(root, path), 1):
            found = re.match(r'\s*#\s*include\s+(["<])([^">]+)[">]', line)
            if found:
                yield path, number, found[1] == '"', found[2]


def check_includes(root):
    users = {}
    for path, number, own, header in includes(root, (".c", ".h", ".def")):
        where = f"{path}:{number}"
        if own:
            if header.split("/")[0] not in LAYERS[path.split("/")[0]]:
                yield f"{where}: {path.split('/')[0]}/ may not use {header}"
        elif os.path.exists(os.path.join(root, header)):
            yield f'{where}: write "{header}", it is ours'
        if path.startswith(PURE) and header in IMPURE:
            yield f"{where}: what decides does no I/O, reads no clock, takes no lock: {header}"
        if header.startswith("fuse") and not own and not path.startswith("fs/"):
            yield f"{where}: only fs/ speaks to FUSE: {header}"
        if THIRD_PARTY.match(header) and not path.startswith("tests/"):
            library = header.split("/")[0]
            first = users.setdefault(library, path)
            if first != path:
                yield f"{where}: {library} is used in {first} already; only one file knows it"
            if not path.endswith(".c"):
                yield f"{where}: {header} in a header; hide it in a .c file"


def check_headers(root, compiler):
    flags = subprocess.run(["pkg-config", "--cflags", "fuse3"], stdout=subprocess.PIPE, text=True,
                           check=True).stdout.split()
    command = compiler + ["-std=gnu17", "-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64", "-Wall",
                          "-Wextra", "-Werror", "-fsyntax-only", "-I", root] + flags
    for path in files(root, (".h",)):
        if not path.endswith(".h"):
            continue
        done = subprocess.run(command + ["-x", "c", "-"], input=f'#include "{path}"\n',
                              stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            yield f"{path}: does not compile alone:\n{done.stderr}"


def main():
    rule, root, compiler = sys.argv[1], sys.argv[2], sys.argv[3:]
    if rule == "headers":
        findings = list(check_headers(root, compiler))
    else:
        rules = {"lines": check_lines, "words": check_words, "functions": check_functions,
                 "includes": check_includes}
        findings = list(rules[rule](root))
    for finding in findings:
        print(finding)
    sys.exit(1 if findings else 0)


main()
