"""git: a scripted history imported, repacked by threads and checked; the project's own repository cloned and checked."""

import hashlib
import random

import driver

SETTINGS = "[safe]\n  directory = *\n[user]\n  name = A\n  email = a@example.org\n[pack]\n  threads = 3\n[gc]\n  auto = 0\n"


def history(commits):
    """A fast-import stream: every commit rewrites some of 200 files a little. The same in every run."""
    chance = random.Random(42)
    files = [[f"line {n} of file {f}" for n in range(60)] for f in range(200)]
    stream = []
    for commit in range(commits):
        message = f"Commit {commit}\n"
        stream.append(
            f"commit refs/heads/main\nmark :{commit + 1}\ncommitter A <a@example.org> {1700000000 + commit * 60} +0000\n"
            f"data {len(message)}\n{message}"
        )
        for number in chance.sample(range(len(files)), 1 + chance.randrange(4)) if commit else range(len(files)):
            lines = files[number]
            for _ in range(3):
                lines[chance.randrange(len(lines))] = f"{chance.getrandbits(64):x} " * chance.randrange(1, 12)
            lines.insert(chance.randrange(len(lines)), f"grown in {commit}")
            text = "\n".join(lines) + "\n"
            stream.append(f"M 100644 inline folder{number % 7}/file{number}.txt\ndata {len(text)}\n{text}\n")
    return "".join(stream)


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


def produce(world):
    world.write(".gitconfig", SETTINGS)
    world.environment["GIT_CONFIG_NOSYSTEM"] = "1"

    def git(where, *words, **how):
        return world.run("git", "-C", where, *words, timeout=200, **how)

    results = {}

    def look(name, where):
        results[name + " fsck"] = git(where, "fsck", "--full", "--strict", "--no-dangling")
        results[name + " objects"] = digest("\n".join(sorted(git(where, "rev-list", "--objects", "--all").splitlines())))
        results[name + " log"] = digest(git(where, "log", "--stat", "-M", "--format=%H %s", "-n", "300"))

    world.run("git", "init", "-q", "-b", "main", "made")
    git("made", "fast-import", "--quiet", given=history(world.size(1200, 8000)))
    git("made", "repack", "-adfq", "--depth=50", "--window=20")
    look("made", "made")
    results["made blame"] = digest(git("made", "blame", "-C", "main", "--", "folder3/file3.txt"))
    world.run("git", "clone", "-q", "--no-local", "made", "copy")
    git("copy", "gc", "-q", "--aggressive" if world.full else "--prune=now")
    look("copy", "copy")
    results["checkout"] = digest(git("copy", "ls-files", "-s"))

    if (driver.PROJECT / ".git").exists():
        head = world.run("git", "-C", driver.PROJECT, "rev-parse", "HEAD").strip()
        world.run("git", "clone", "-q", "--no-local", driver.PROJECT, "project")
        git("project", "checkout", "-q", "--detach", "HEAD")
        git("project", "gc", "-q")
        results["project fsck"] = git("project", "fsck", "--full", "--no-dangling")
        results["project archive"] = digest(git("project", "archive", "--format=tar", "HEAD"))
        results["project head"] = head
    return results


driver.run(name="git", needs=[("git", "git")], serves="git", proof=["git", "version"], produce=produce)
