"""reservoir_loop.py ROOT LIST RATE: read the files of LIST below ROOT in its order by two threads, a
few batches ahead of a step that takes as long as RATE bytes a second allow (0: no time).  Prints
"files bytes seconds"."""
import queue
import sys
import threading
import time

BATCH, AHEAD, READERS = 32, 8, 2


def read_batches(root, batches, taken, ready):
    while (number := next(taken, None)) is not None:
        size = 0
        for path in batches[number]:
            with open(f"{root}/{path}", "rb", buffering=0) as f:
                while data := f.read(1 << 20):
                    size += len(data)
        ready[number].put(size)


class Counter:
    """Numbers below n, each once, at most AHEAD beyond those that were let go."""

    def __init__(self, n):
        self.n, self.at, self.room, self.lock = n, 0, threading.Semaphore(AHEAD), threading.Lock()

    def __next__(self):
        self.room.acquire()
        with self.lock:
            if self.at == self.n:
                self.room.release()
                raise StopIteration
            self.at += 1
            return self.at - 1


def main():
    root, listed, rate = sys.argv[1], sys.argv[2], float(sys.argv[3])
    with open(listed, encoding="utf-8") as f:
        paths = [line[:-1] for line in f]
    batches = [paths[i:i + BATCH] for i in range(0, len(paths), BATCH)]
    ready = [queue.SimpleQueue() for _ in batches]
    taken, size = Counter(len(batches)), 0
    begin = time.monotonic()
    for _ in range(READERS):
        threading.Thread(target=read_batches, args=(root, batches, taken, ready),
                         daemon=True).start()
    for done in ready:
        got = done.get()
        size += got
        taken.room.release()
        if rate:
            time.sleep(got / rate)
    print(len(paths), size, time.monotonic() - begin)


main()
