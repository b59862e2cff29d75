"""sum_up.py FOLDER [BROKEN…]: what the meson test runs below FOLDER came to.

Shows the log of each failed test and the reason of each skipped one; the last line is
"N passed, N failed".  BROKEN are builds and runs that did not take place: each is a failure.
With CI=true a skip is a failure too, except where its reason begins with "by design".
"""
import glob
import json
import os
import sys

PASSED, SKIPPED = ("OK", "EXPECTEDFAIL"), "SKIP"
LOG_LINES = 200


def results(folder):
    """(name, test) of every test in the newest log of each run."""
    for path in sorted(glob.glob(os.path.join(folder, "*", "meson-logs", "*.json"))):
        build = path.split(os.sep)[-3]
        with open(path, encoding="utf-8", errors="replace") as f:
            for line in f:
                test = json.loads(line)
                yield f"{build}: {test['name']}", test


def output(test):
    return "\n".join(t for t in (test.get("stdout"), test.get("stderr")) if t).rstrip()


def reason(test):
    lines = [line for line in output(test).split("\n") if line.strip()]
    return lines[-1].replace("SKIPPED: ", "") if lines else "no reason given"


def main():
    folder, broken = sys.argv[1], sys.argv[2:]
    passed, failed, skipped = 0, list(broken), []
    for name, test in results(folder):
        if test["result"] in PASSED:
            passed += 1
        elif test["result"] == SKIPPED:
            skipped.append((name, reason(test)))
        else:
            failed.append(f"{name} ({test['result']})")
            print(f"---- {name}: {test['result']}, exit code {test.get('returncode')}")
            print("\n".join(output(test).split("\n")[-LOG_LINES:]))
    for name, why in skipped:
        print(f"skipped: {name}: {why}")
        if os.environ.get("CI") == "true" and not why.startswith("by design"):
            failed.append(f"{name} (skipped)")
    if passed == 0 and not failed:
        failed.append("no test ran")
    for name in failed:
        print(f"failed: {name}")
    print(f"{passed} passed, {len(failed)} failed")
    sys.exit(1 if failed else 0)


main()
