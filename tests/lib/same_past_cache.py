"""same_past_cache.py SOURCE MOUNTED: each file of the folder has the same bytes, though nothing is cached."""
import os
import sys

for name in sorted(os.listdir(sys.argv[1])):
    fd = os.open(f"{sys.argv[2]}/{name}", os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    with open(f"{sys.argv[1]}/{name}", "rb") as source, open(fd, "rb") as mounted:
        if source.read() != mounted.read():
            sys.exit(f"{name}: wrong bytes")
