// A thread uses the plugin and ends after it was closed.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static pthread_barrier_t used, closed;

static void* thread(void* use) {
  ((void (*)(void))use)();
  pthread_barrier_wait(&used);
  pthread_barrier_wait(&closed);
  return NULL;
}

int main(int argc, char** argv) {
  void* plugin = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  void* use = plugin ? dlsym(plugin, "use") : NULL;
  pthread_t t;
  if (!use || pthread_barrier_init(&used, NULL, 2) || pthread_barrier_init(&closed, NULL, 2) ||
      pthread_create(&t, NULL, thread, use))
    return puts(plugin ? "no plugin" : dlerror()), 1;
  pthread_barrier_wait(&used);
  if (dlclose(plugin)) return puts(dlerror()), 1;
  pthread_barrier_wait(&closed);
  pthread_join(t, NULL);
  return 0;
}
