/* Stands for libpolder-trace.so: leaves the files that it would, with the program's name as what was recorded. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((constructor)) static void begin(void) {
  const char* folder = getenv("POLDER_TRACE_FOLDER");
  char name[512];
  if (folder == NULL || getenv("FAKE_RECORDS_NOTHING") != NULL) return;
  snprintf(name, sizeof name, "%s/command", folder);
  FILE* claim = fopen(name, "wx");
  int mine = claim != NULL;
  if (claim != NULL) {
    fprintf(claim, "%d", (int)getpid());
    fclose(claim);
  } else {
    claim = fopen(name, "r");
    int process = 0;
    mine = claim != NULL && fscanf(claim, "%d", &process) == 1 && process == (int)getpid();
    if (claim != NULL) fclose(claim);
  }
  int recorded = mine || getenv("POLDER_TRACE_CHILDREN") != NULL;
  for (int image = 0; image < 10; ++image) {
    snprintf(name, sizeof name, recorded ? "%s/raw.%d.%d" : "%s/skipped.%d", folder, (int)getpid(), image);
    FILE* raw = fopen(name, recorded ? "wx" : "w");
    if (raw == NULL) continue;
    char program[256] = "";
    FILE* comm = fopen("/proc/self/comm", "r");
    const char* too_much = getenv("FAKE_NO_ROOM");
    if (comm != NULL && fgets(program, sizeof program, comm) != NULL &&
        (too_much == NULL || strstr(program, too_much) != program))
      fprintf(raw, "trace of %s", program);
    if (comm != NULL) fclose(comm);
    fclose(raw);
    return;
  }
}
