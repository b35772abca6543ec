/* Runs one command once and prints what it cost, as one JSON line.
 *
 *   launch --limit SECONDS --input FILE --output FILE --errors FILE [--set NAME=VALUE]...
 *          [--sample MILLISECONDS --samples FILE [--of tree|started]] -- CMD ARGS...
 *
 * Why a program of its own, and in C: Linux keeps a process's peak resident size across exec, so a command started
 * straight from Python would never seem smaller than Python. From here the floor is this program's own 1.5 MB.
 * It is also where the measured environment begins: --set variables (LD_PRELOAD above all) exist in the command only,
 * never in the harness.
 *
 * The command leads a process group; this process is the reaper of everything the command leaves behind. Costs are
 * those of the whole tree: faults and processor time are sums, peak_rss is that of the LARGEST single process; `own` is
 * the processor time of this program; `began` the start on CLOCK_MONOTONIC. With --sample it also looks at the tree's memory from time to time, or,
 * --of started, at that of those processes alone that have left the command's group: a command may only start what counts.
 * Exit status: 0 when a report was printed (also when the command failed), 2 when nothing could be run.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "memory_sampler.h"

extern char** environ;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double seconds(struct timeval t) { return (double)t.tv_sec + (double)t.tv_usec * 1e-6; }

static int fail(const char* what, const char* name) {
  fprintf(stderr, "launch: %s %s: %s\n", what, name, strerror(errno));
  return 2;
}

/* Ends every process that descends from this one and counts those that were still running. A child in a session of
 * its own is not in the group, hence the second way, by the kernel's list of children. */
static int end_descendants(pid_t group) {
  int ended = 0;
  kill(-group, SIGKILL);
  for (;;) {
    char name[64];
    snprintf(name, sizeof name, "/proc/self/task/%d/children", (int)getpid());
    FILE* children = fopen(name, "r");
    int child = 0;
    while (children && fscanf(children, "%d", &child) == 1) kill(child, SIGKILL);
    if (children) fclose(children);
    int status = 0;
    pid_t gone = waitpid(-1, &status, 0);
    if (gone < 0 && errno == ECHILD) return ended;
    if (gone > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) ++ended;
  }
}

int main(int argc, char** argv) {
  double limit = 60, interval = 0;
  int started_only = 0;
  const char *input = "/dev/null", *output = "/dev/null", *errors = "/dev/null", *samples = "/dev/null";
  char* set[64];
  int sets = 0;
  int i = 1;
  for (; i + 1 < argc && strcmp(argv[i], "--") != 0; i += 2) {
    if (strcmp(argv[i], "--limit") == 0) limit = atof(argv[i + 1]);
    else if (strcmp(argv[i], "--input") == 0) input = argv[i + 1];
    else if (strcmp(argv[i], "--output") == 0) output = argv[i + 1];
    else if (strcmp(argv[i], "--errors") == 0) errors = argv[i + 1];
    else if (strcmp(argv[i], "--sample") == 0) interval = atof(argv[i + 1]) / 1000;
    else if (strcmp(argv[i], "--samples") == 0) samples = argv[i + 1];
    else if (strcmp(argv[i], "--of") == 0) started_only = strcmp(argv[i + 1], "started") == 0;
    else if (strcmp(argv[i], "--set") == 0 && sets < 64) set[sets++] = argv[i + 1];
    else {
      fprintf(stderr, "launch: what is %s?\n", argv[i]);
      return 2;
    }
  }
  if (i + 1 >= argc) {
    fprintf(stderr, "launch: no command\n");
    return 2;
  }
  char** command = argv + i + 1;

  int in = open(input, O_RDONLY | O_CLOEXEC);
  if (in < 0) return fail("open", input);
  int out = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (out < 0) return fail("open", output);
  int err = open(errors, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (err < 0) return fail("open", errors);
  int refusal[2]; /* closed by a successful exec; carries errno of a failed one */
  if (pipe2(refusal, O_CLOEXEC) != 0) return fail("pipe", "");

  prctl(PR_SET_CHILD_SUBREAPER, 1);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  sigset_t watched, before;
  sigemptyset(&watched);
  sigaddset(&watched, SIGCHLD);
  sigaddset(&watched, SIGTERM);
  sigaddset(&watched, SIGINT);
  sigprocmask(SIG_BLOCK, &watched, &before);
  signal(SIGCHLD, SIG_DFL); /* where it is inherited as ignored nobody could be waited for */

  double start = now();
  pid_t launcher = getpid();
  pid_t command_id = fork();
  if (command_id < 0) return fail("fork", "");
  if (command_id == 0) {
    setpgid(0, 0);
    setrlimit(RLIMIT_CORE,
              &(struct rlimit){0, 0}); /* a crash is a row of the table, not a file in somebody's folder */
    for (int s = 0; s < sets; ++s) putenv(set[s]);
    dup2(in, 0);
    dup2(out, 1);
    dup2(err, 2);
    sigprocmask(SIG_SETMASK, &before, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* one that is killed can no longer end what it runs */
    if (getppid() != launcher) _exit(126);
    execvp(command[0], command);
    int why = errno;
    if (write(refusal[1], &why, sizeof why) < 0) _exit(126);
    _exit(127);
  }
  setpgid(command_id, command_id);
  close(refusal[1]);

  static struct memory_sampler sampler;
  sampler_begin(&sampler, start, interval, started_only ? command_id : 0);
  int status = 0, hung = 0, interrupted = 0;
  double stop = start;
  for (;;) {
    pid_t gone = waitpid(command_id, &status, WNOHANG);
    stop = now();
    if (gone == command_id) break;
    double left = start + limit - stop;
    if (left <= 0 || interrupted) {
      hung = !interrupted;
      kill(-command_id, SIGKILL);
      kill(command_id, SIGKILL); /* it may have left its group */
      waitpid(command_id, &status, 0);
      stop = now();
      break;
    }
    if (interval > 0) {
      if (sampler_due(&sampler) <= stop) sampler_tick(&sampler, stop);
      double until_due = sampler_due(&sampler) - now();
      if (until_due < left) left = until_due > 0 ? until_due : 0;
    }
    struct timespec patience = {(time_t)left, (long)((left - (double)(time_t)left) * 1e9)};
    int caught = sigtimedwait(&watched, NULL, &patience);
    interrupted = caught == SIGTERM || caught == SIGINT;
  }
  if (interval > 0) sampler_end(&sampler, stop);
  int left_behind = end_descendants(command_id);

  int why = 0;
  if (read(refusal[0], &why, sizeof why) == (ssize_t)sizeof why) {
    errno = why;
    return fail("cannot run", command[0]);
  }
  if (interrupted) return 2;
  if (interval > 0 && sampler_write(&sampler, samples) != 0) return fail("write", samples);
  struct rusage used, own;
  getrusage(RUSAGE_CHILDREN, &used);
  getrusage(RUSAGE_SELF, &own);
  printf(
      "{\"pid\": %d, \"began\": %.9f, \"wall\": %.9f, \"user\": %.6f, \"system\": %.6f, \"peak_rss\": %lld, "
      "\"minor_faults\": %ld, "
      "\"major_faults\": %ld, \"exit\": %d, \"signal\": %d, \"hung\": %s, \"left_behind\": %d, \"own\": %.6f}\n",
      (int)command_id, start, stop - start, seconds(used.ru_utime), seconds(used.ru_stime),
      (long long)used.ru_maxrss * 1024, used.ru_minflt, used.ru_majflt,
      WIFEXITED(status) ? WEXITSTATUS(status) : -1, WIFSIGNALED(status) ? WTERMSIG(status) : 0,
      hung ? "true" : "false", left_behind, seconds(own.ru_utime) + seconds(own.ru_stime));
  return 0;
}
