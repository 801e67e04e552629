"""Python's module ``queue`` for one thread: nobody else puts anything into a queue, or takes it out."""

import heapq
import operator
import time
from collections import deque
from queue import Empty, Full


class _Queue:
    def __init__(self, maxsize):
        self.maxsize = maxsize
        self.unfinished_tasks = 0
        # A function that is made here is why this does not leave compiled code.
        self._stays = lambda: None

    def qsize(self):
        return len(self.queue)

    def empty(self):
        return len(self.queue) == 0

    def full(self):
        return 0 < self.maxsize <= len(self.queue)

    def put(self, item, block=True, timeout=None):
        if self.full():
            if block:
                _wait(timeout, "a queue is full, and nobody else takes anything out")
            raise Full
        self._put(item)
        self.unfinished_tasks += 1

    def get(self, block=True, timeout=None):
        if len(self.queue) == 0:
            if block:
                _wait(timeout, "a queue is empty, and nobody else puts anything in")
            raise Empty
        return self._get()

    def put_nowait(self, item):
        self.put(item, False)

    def get_nowait(self):
        return self.get(False)

    def task_done(self):
        if self.unfinished_tasks <= 0:
            raise ValueError("task_done() called too many times")
        self.unfinished_tasks -= 1

    def join(self):
        if self.unfinished_tasks:
            operator._not_said("tasks of a queue are not done, and nobody else does them")


def _wait(timeout, why):
    if timeout is None:
        operator._not_said(why)
    else:
        if timeout < 0:
            raise ValueError("'timeout' must be a non-negative number")
        time.sleep(timeout)


class Queue(_Queue):
    def __init__(self, maxsize):
        super().__init__(maxsize)
        self.queue = deque()

    def _put(self, item):
        self.queue.append(item)

    def _get(self):
        return self.queue.popleft()


class LifoQueue(_Queue):
    def __init__(self, maxsize):
        super().__init__(maxsize)
        self.queue = []

    def _put(self, item):
        self.queue.append(item)

    def _get(self):
        return self.queue.pop()


class PriorityQueue(_Queue):
    def __init__(self, maxsize):
        super().__init__(maxsize)
        self.queue = []

    def _put(self, item):
        heapq.heappush(self.queue, item)

    def _get(self):
        return heapq.heappop(self.queue)


def queue(maxsize):
    return Queue(maxsize)


def lifo_queue(maxsize):
    return LifoQueue(maxsize)


def priority_queue(maxsize):
    return PriorityQueue(maxsize)
