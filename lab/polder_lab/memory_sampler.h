/* Memory over time of whatever descends from the calling process, looked at from outside, through /proc.
 *
 * Kept at each tick: the resident size of the LARGEST single process of the tree. A tick that came late, or not before the end,
 * repeats the value before it, so that the list is a regular grid. Now and then, as it is dear: that process's proportional size
 * (smaps_rollup walks all its pages) and the size of its page tables. The tree itself is looked for at every 25th tick,
 * more often at first, and only if a process or thread began anywhere meanwhile: that reads the stat of every process of
 * the machine.
 * A group of processes can be left out: a job that starts the program that counts, and that program's clients, may well be larger.
 * Nothing is written before the end: the disk is not touched while the command runs.
 */
#ifndef POLDER_LAB_MEMORY_SAMPLER_H
#define POLDER_LAB_MEMORY_SAMPLER_H

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum {
  sampler_most_processes = 4096,
  sampler_search_every = 25,
  sampler_search_early = 8,
  sampler_dear_first_ms = 30,
  sampler_dear_every_ms = 250
};

struct dear_sample {
  double at;
  long long pss, page_tables;
};

struct memory_sampler {
  double start, interval, next_dear;
  long long* rss; /* one a tick */
  size_t count, room;
  struct dear_sample* dear;
  size_t dear_count, dear_room;
  pid_t left_out; /* a process group that is not looked at; 0: none */
  pid_t tree[sampler_most_processes];
  size_t tree_size;
  pid_t seen[sampler_most_processes]; /* those of the tree that are looked at */
  size_t seen_count;
  long newest; /* number given to a process or thread last, when the tree was looked for */
};

static void sampler_begin(struct memory_sampler* s, double start, double interval, pid_t left_out) {
  memset(s, 0, sizeof *s);
  s->left_out = left_out;
  s->start = start;
  s->interval = interval;
  s->next_dear = sampler_dear_first_ms / 1000.0;
}

/* When the next tick is due. */
static double sampler_due(const struct memory_sampler* s) {
  return s->start + (double)(s->count + 1) * s->interval;
}

static void* sampler_grown(void* list, size_t count, size_t* room, size_t size) {
  if (count < *room) return list;
  *room = *room ? *room * 2 : 1024;
  void* larger = realloc(list, *room * size);
  if (!larger) {
    fprintf(stderr, "launch: no memory for samples\n");
    _exit(2);
  }
  return larger;
}

/* The beginning of a file under /proc, in one read; its length. */
static size_t sampler_text(pid_t id, const char* file, char* text, size_t size) {
  char name[64];
  snprintf(name, sizeof name, "/proc/%d/%s", (int)id, file);
  int opened = open(name, O_RDONLY | O_CLOEXEC);
  ssize_t length = opened < 0 ? 0 : read(opened, text, size - 1);
  if (opened >= 0) close(opened);
  text[length > 0 ? length : 0] = 0;
  return length > 0 ? (size_t)length : 0;
}

/* The processes that descend from this one: those whose parent is in the tree already, until no more are found. Those of the
 * group that is left out may have children outside it. */
static void sampler_search(struct memory_sampler* s) {
  static pid_t ids[sampler_most_processes * 4], parents[sampler_most_processes * 4],
      groups[sampler_most_processes * 4];
  size_t all = 0;
  DIR* proc = opendir("/proc");
  if (!proc) return;
  for (struct dirent* entry; all < sizeof ids / sizeof *ids && (entry = readdir(proc));) {
    char text[512];
    int id = atoi(entry->d_name), parent = 0, group = 0;
    if (id <= 0 || sampler_text(id, "stat", text, sizeof text) == 0) continue;
    const char* after_name = strrchr(text, ')'); /* a program's name may hold anything */
    if (after_name && sscanf(after_name, ") %*c %d %d", &parent, &group) == 2) {
      ids[all] = id;
      groups[all] = group;
      parents[all++] = parent;
    }
  }
  closedir(proc);
  s->tree_size = s->seen_count = 0;
  s->tree[s->tree_size++] = getpid();
  for (size_t at = 0; at < s->tree_size; ++at) {
    for (size_t i = 0; i < all && s->tree_size < sampler_most_processes; ++i) {
      if (parents[i] != s->tree[at]) continue;
      s->tree[s->tree_size++] = ids[i];
      if (!s->left_out || groups[i] != s->left_out) s->seen[s->seen_count++] = ids[i];
    }
  }
}

/* The number the system gave to a process or thread last; -1 when it does not tell. */
static long sampler_newest(void) {
  char text[128];
  int opened = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
  ssize_t length = opened < 0 ? 0 : read(opened, text, sizeof text - 1);
  if (opened >= 0) close(opened);
  text[length > 0 ? length : 0] = 0;
  const char* last = strrchr(text, ' ');
  return last ? atol(last) : -1;
}

static long long sampler_resident(pid_t id) {
  char text[128];
  long long pages = 0;
  sampler_text(id, "statm", text, sizeof text);
  return sscanf(text, "%*d %lld", &pages) == 1 ? pages * sysconf(_SC_PAGESIZE) : 0;
}

/* A line "Field:   N kB" of a file of the process, in bytes; -1 when it is not to be had. */
static long long sampler_field(pid_t id, const char* file, const char* field) {
  char text[4096];
  sampler_text(id, file, text, sizeof text);
  const char* line = strstr(text, field);
  return line ? atoll(line + strlen(field)) * 1024 : -1;
}

static void sampler_put(struct memory_sampler* s, long long resident) {
  s->rss = sampler_grown(s->rss, s->count, &s->room, sizeof *s->rss);
  s->rss[s->count++] = resident;
}

static void sampler_tick(struct memory_sampler* s, double now) {
  size_t every = s->count < sampler_search_every ? sampler_search_early : sampler_search_every;
  if (s->count % every == 0 || s->seen_count == 0) {
    long newest = sampler_newest();
    if (newest != s->newest || newest < 0 || s->seen_count == 0) sampler_search(s);
    s->newest = newest;
  }
  long long largest = 0;
  pid_t whose = 0;
  for (size_t i = 0; i < s->seen_count; ++i) {
    long long resident = sampler_resident(s->seen[i]);
    if (resident > largest) {
      largest = resident;
      whose = s->seen[i];
    }
  }
  long long before = s->count ? s->rss[s->count - 1] : largest;
  if (largest == 0) largest = before; /* it has just ended */
  do {
    int late = sampler_due(s) + s->interval <= now;
    sampler_put(s, late ? before : largest);
  } while (sampler_due(s) <= now);
  if (whose && now - s->start >= s->next_dear) {
    s->next_dear = now - s->start + sampler_dear_every_ms / 1000.0;
    s->dear = sampler_grown(s->dear, s->dear_count, &s->dear_room, sizeof *s->dear);
    s->dear[s->dear_count++] = (struct dear_sample){now - s->start, sampler_field(whose, "smaps_rollup", "\nPss:"),
                                                    sampler_field(whose, "status", "\nVmPTE:")};
  }
}

/* The command ended at `end`: ticks that came no more repeat the last one. */
static void sampler_end(struct memory_sampler* s, double end) {
  while (s->count != 0 && sampler_due(s) <= end) sampler_put(s, s->rss[s->count - 1]);
}

/* One line a sample: `rss BYTES`, `pss SECONDS BYTES`, `page_tables SECONDS BYTES`. */
static int sampler_write(const struct memory_sampler* s, const char* file) {
  FILE* out = fopen(file, "w");
  if (!out) return -1;
  for (size_t i = 0; i < s->count; ++i) fprintf(out, "rss %lld\n", s->rss[i]);
  for (size_t i = 0; i < s->dear_count; ++i) {
    const struct dear_sample* d = &s->dear[i];
    if (d->pss >= 0) fprintf(out, "pss %.3f %lld\n", d->at, d->pss);
    if (d->page_tables >= 0) fprintf(out, "page_tables %.3f %lld\n", d->at, d->page_tables);
  }
  return fclose(out);
}

#endif
