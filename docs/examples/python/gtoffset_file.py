"""The offsets of one group in one topic, kept by the job itself in the file STORE/group/topic/gtoffset.

docs/file-format.md is the contract. A job that keeps it so loses nothing, and after a crash repeats one batch at most:

    with GtoffsetFile("/var/lib/billing/offsets", "billing", "orders") as file:
        # read on from file.offsets, and after each batch, only if its output is complete:
        file.save({0: 1500, 1: 1498})

Every offset is the next record to read. It needs Python 3.8 and nothing else.
"""

import datetime
import fcntl
import json
import os
import re
import socket
import tempfile

MAGIC = "# gtoffset 1"


class Damaged(Exception):
    """The file is there, and cannot be used: it is not whole, or in another form. A person has to look, with gtoffset clamp."""


class GtoffsetFile:
    """Holds the lock from its making on until close(): nobody else writes meanwhile, neither a second job nor a repair."""

    def __init__(self, store, group, topic):
        folder = os.path.join(store, folder_name(group), folder_name(topic))
        if not os.path.isdir(store):
            raise FileNotFoundError("there is no store " + store)  # a wrong path is no first run
        os.makedirs(folder, exist_ok=True)
        self.path = os.path.realpath(os.path.join(folder, "gtoffset"))  # where a symbolic link leads to
        self.headers = ["# group " + header(group), "# topic " + header(topic)]
        self.offsets = {}  # by partition
        self._keys = {}  # by partition: what else its line says
        self._lock = open(os.path.join(folder, "gtoffset.lock"), "a+")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._lock.truncate(0)
            self._lock.write("a Python job, pid %d on %s\n" % (os.getpid(), socket.gethostname()))
            self._lock.flush()
            self._load()
        except BaseException:
            self._lock.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._lock.close()  # and with it the lock is given back

    def _load(self):
        try:
            with open(self.path, encoding="utf-8", newline="") as f:
                text = f.read()
        except FileNotFoundError:
            return  # a first run
        lines = text.split("\n")
        if lines[0] != MAGIC or lines[-1] != "":
            raise Damaged(self.path + " is not a whole gtoffset file")
        self.headers = []
        for line in lines[1:-2]:
            if line.startswith("#"):
                if not line.startswith("# saved "):
                    self.headers.append(line)
                continue
            m = re.fullmatch(r"([0-9]+)[ \t]+([0-9]+)((?:[ \t]+\S+=\S*)*)", line)
            if m is None or int(m[1]) in self.offsets:
                raise Damaged("%s: bad line: %s" % (self.path, line))
            self.offsets[int(m[1])] = int(m[2])
            # The epoch is of the record before: it does not outlive the offset.
            self._keys[int(m[1])] = "".join(" " + k for k in m[3].split() if not k.startswith("epoch="))
        if lines[-2] != self._count():
            raise Damaged(self.path + " is not a whole gtoffset file")

    def _count(self):
        return "# entries %d" % len(self.offsets)

    def save(self, offsets):
        """Replaces the file by one with these offsets. Other partitions keep theirs."""
        self.offsets.update(offsets)
        now = datetime.datetime.now(datetime.timezone.utc)
        lines = [MAGIC, *self.headers, "# saved " + now.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"]
        lines += ["%d %d%s" % (p, o, self._keys.get(p, "")) for p, o in sorted(self.offsets.items())]
        self._replace("\n".join(lines + [self._count(), ""]).encode())

    def _replace(self, text):
        """Whatever happens, the old file or the new one stands whole: a new one is written beside it, synced, and renamed over it."""
        folder = os.path.dirname(self.path)
        fd, fresh = tempfile.mkstemp(prefix=".gtoffset.tmp-", dir=folder)
        try:
            with open(fd, "wb") as f:
                f.write(text)
                self._keep_owner(fd, folder)
                f.flush()
                os.fsync(fd)
            os.rename(fresh, self.path)
        except BaseException:
            os.unlink(fresh)
            raise
        fd = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(fd)  # the rename, too, outlives a power cut
        finally:
            os.close(fd)

    def _keep_owner(self, fd, folder):
        try:
            old = os.stat(self.path)
            os.fchown(fd, old.st_uid, old.st_gid)
            os.fchmod(fd, old.st_mode & 0o7777)
        except FileNotFoundError:
            os.fchmod(fd, os.stat(folder).st_mode & 0o644)


def folder_name(name):
    """A group or topic as a folder is called. Names of more than 200 bytes need more: see docs/file-format.md."""
    if name.strip(".") == "":
        return "".join("%2E" for _ in name)
    return "".join(chr(b) if re.match(rb"[A-Za-z0-9._-]", bytes([b])) else "%%%02X" % b for b in name.encode())


def header(value):
    plain = value.isprintable() and value == value.strip() and value != "" and not value.startswith('"')
    return value if plain else json.dumps(value)
