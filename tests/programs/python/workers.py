"""A pool of processes that call a library: workers.py LIBRARY TASKS START_METHOD. Prints the tasks done."""

import ctypes
import multiprocessing
import sys

import coz

library = ctypes.CDLL(sys.argv[1])
library.work.argtypes = [ctypes.c_long]


def work(_):
    library.work(1_000_000)
    coz.progress("done")
    return 1


if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[3])
    with context.Pool(2) as pool:
        print(sum(pool.imap_unordered(work, range(int(sys.argv[2])))))
        pool.close()
        pool.join()
