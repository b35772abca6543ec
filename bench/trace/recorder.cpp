#include "trace/recorder.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace polder::trace {
namespace {

constexpr std::size_t longest_record = 1 + 7 * longest_varint;

// System calls by number: those of the C library are points of cancellation, and malloc is none.
int open_file(const char* path, int flags) {
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0644));
}
void close_file(int file) { syscall(SYS_close, file); }

// Beyond the limit on the size of files a write is a signal that ends the program.
bool may_have(std::uint64_t bytes) {
  rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || bytes <= limit.rlim_cur;
}

// Room in the file that is really there: writing into a mapping of a full disk would end the program.
bool reserve(int file, std::uint64_t from, std::uint64_t bytes) {
  if (!may_have(from + bytes)) return false;
  if (syscall(SYS_fallocate, file, 0, from, bytes) == 0) return true;
  if (errno != EOPNOTSUPP && errno != ENOSYS) return false;
  static const char zeros[4096] = {};
  for (std::uint64_t at = 0; at < bytes; at += sizeof zeros) {
    if (syscall(SYS_pwrite64, file, zeros, sizeof zeros, from + at) != static_cast<long>(sizeof zeros))
      return false;
  }
  return true;
}

void* map_file(int file, std::uint64_t from, std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, static_cast<off_t>(from));
  return memory == MAP_FAILED ? nullptr : memory;
}

// Text of fixed length, put together without the C library's buffers.
class text {
 public:
  text(char* buffer, std::size_t size) : at_(buffer), end_(buffer + size - 1) { *at_ = '\0'; }
  text& operator<<(const char* words) {
    while (*words != '\0' && at_ != end_) *at_++ = *words++;
    *at_ = '\0';
    return *this;
  }
  text& operator<<(unsigned long number) {
    char digits[21];
    char* first = digits + sizeof digits - 1;
    *first = '\0';
    do *--first = static_cast<char>('0' + number % 10);
    while ((number /= 10) != 0);
    return *this << first;
  }

 private:
  char* at_;
  char* end_;
};

// The first process that comes here is the command itself; it may come again, as another program. The others are its
// children.
bool is_the_command(const char* folder) {
  char name[600];
  char mine[24];
  text(name, sizeof name) << folder << "/command";
  text(mine, sizeof mine) << static_cast<unsigned long>(getpid());
  if (!may_have(sizeof mine)) return false;
  int file = open_file(name, O_WRONLY | O_CREAT | O_EXCL);
  if (file >= 0) {
    const bool written = syscall(SYS_write, file, mine, std::strlen(mine)) > 0;
    close_file(file);
    return written;
  }
  file = open_file(name, O_RDONLY);
  if (file < 0) return false;
  char found[24] = {};
  const long length = syscall(SYS_read, file, found, sizeof found - 1);
  close_file(file);
  return length > 0 && std::strcmp(found, mine) == 0;
}

void name_of_this_program(char* out, std::size_t size) {
  char path[512] = {};
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  const char* slash = length > 0 ? std::strrchr(path, '/') : nullptr;
  text(out, size) << (slash != nullptr ? slash + 1 : "unknown");
}

}  // namespace

constinit recorder the_recorder;
constinit thread_local recording_thread this_thread;

// Called once in a process, while it has one thread: from its first malloc, or from its first after a fork.
bool recorder::begin() {
  const int error = errno;
  if (!told_) {
    if (environ == nullptr) return false;  // the C library is not that far: ask again at the next call
    const char* folder = std::getenv("POLDER_TRACE_FOLDER");
    if (folder != nullptr && std::strlen(folder) < sizeof folder_) text(folder_, sizeof folder_) << folder;
    with_children_ = std::getenv("POLDER_TRACE_CHILDREN") != nullptr;
    void* memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || madvise(memory, 4096, MADV_WIPEONFORK) != 0) folder_[0] = '\0';
    else page_ = static_cast<page*>(memory);
    told_ = true;
  }
  ++generation_;
  tickets_.store(0, std::memory_order_relaxed);
  threads_.store(0, std::memory_order_relaxed);
  chunks_.store(0, std::memory_order_relaxed);
  for (auto& chunk : parked_) chunk.store(nullptr, std::memory_order_relaxed);
  header_ = nullptr;

  const auto process = static_cast<unsigned long>(getpid());
  const bool wanted = folder_[0] != '\0' && (is_the_command(folder_) || with_children_);
  if (folder_[0] != '\0' && !wanted) {
    text(file_, sizeof file_) << folder_ << "/skipped." << process;
    const int note = open_file(file_, O_WRONLY | O_CREAT);
    if (note >= 0) close_file(note);
  }
  for (unsigned long image = 0; wanted && image < 1000; ++image) {  // one for each program the process becomes
    text(file_, sizeof file_) << folder_ << "/raw." << process << "." << image;
    const int file = open_file(file_, O_RDWR | O_CREAT | O_EXCL);
    if (file < 0 && errno == EEXIST) continue;
    if (file < 0) break;
    if (reserve(file, 0, raw::header_size))
      header_ = static_cast<raw::header*>(map_file(file, 0, raw::header_size));
    if (header_ == nullptr) syscall(SYS_ftruncate, file, 0);  // an empty file says that there was no room
    keep_open(file);
    close_file(file);
    break;
  }
  if (header_ != nullptr) {
    std::memcpy(header_->magic, raw::magic, sizeof raw::magic);
    name_of_this_program(header_->program, sizeof header_->program);
    if (!has_key_) has_key_ = pthread_key_create(&key_, thread_ends) == 0;
  }
  page_->mode.store(header_ != nullptr ? recording : off, std::memory_order_release);  // sync: begun
  errno = error;
  return header_ != nullptr;
}

// Under a high number, where it changes none of those that the program gets.
void recorder::keep_open(int file) {
  if (still_open()) close_file(kept_);  // the parent's
  struct stat about;
  kept_ = fstat(file, &about) == 0 ? fcntl(file, F_DUPFD_CLOEXEC, 800) : -1;
  device_ = about.st_dev;
  inode_ = about.st_ino;
}

bool recorder::still_open() const {
  struct stat about;
  return kept_ >= 0 && fstat(kept_, &about) == 0 && about.st_dev == device_ && about.st_ino == inode_;
}

raw::chunk* recorder::map_chunk() {
  const bool kept = still_open();
  const int file = kept ? kept_ : open_file(file_, O_RDWR);
  if (file < 0) return nullptr;
  const std::uint64_t at = raw::header_size + chunks_.fetch_add(1, std::memory_order_relaxed) * raw::chunk_size;
  void* memory = reserve(file, at, raw::chunk_size) ? map_file(file, at, raw::chunk_size) : nullptr;
  if (!kept) close_file(file);
  return static_cast<raw::chunk*>(memory);
}

bool recorder::take_chunk(recording_thread& t) {
  const int error = errno;
  if (t.generation != generation_) {
    const bool ending = t.ending;
    t = recording_thread{};  // what there was, was the parent's
    t.ending = ending;
    t.busy = true;
    t.generation = generation_;
  }
  if (t.number == 0) t.number = threads_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (t.chunk != nullptr) munmap(t.chunk, sizeof *t.chunk);
  t.chunk = nullptr;
  for (auto& place : parked_) {
    if (place.load(std::memory_order_relaxed) == nullptr) continue;
    t.chunk = place.exchange(nullptr, std::memory_order_acquire);  // sync: chunk-parked
    if (t.chunk != nullptr) break;
  }
  if (t.chunk == nullptr) t.chunk = map_chunk();
  if (t.chunk == nullptr) {
    stop();
    errno = error;
    return false;
  }
  t.at = t.chunk->records + t.chunk->used.load(std::memory_order_relaxed);
  t.end = t.chunk->records + sizeof t.chunk->records - 2 * longest_record;
  t.address = 0;
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  t.time_ns = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
  // No record that follows has a ticket below this one: a call draws it after it came here.
  t.ticket = tickets_.load(std::memory_order_relaxed);
  *t.at++ = raw::op_thread;
  t.at = put_varint(t.at, t.number);
  t.at = put_varint(t.at, t.ticket);
  t.at = put_varint(t.at, t.time_ns);
  t.chunk->used.store(static_cast<std::uint32_t>(t.at - t.chunk->records),
                      std::memory_order_release);  // sync: record-written
  if (has_key_ && !t.ending) pthread_setspecific(key_, &t);
  errno = error;
  return true;
}

// The chunk goes to whoever begins next; one that is nearly full goes to nobody.
void recorder::park(recording_thread& t) {
  raw::chunk* chunk = t.chunk;
  const bool room = t.at != nullptr && t.end - t.at > 4096;
  t.at = t.end = nullptr;
  t.chunk = nullptr;
  if (chunk == nullptr) return;
  if (room) {
    for (auto& place : parked_) {
      raw::chunk* empty = nullptr;
      if (place.compare_exchange_strong(empty, chunk, std::memory_order_release,
                                        std::memory_order_relaxed))  // sync: chunk-parked
        return;
    }
  }
  munmap(chunk, sizeof *chunk);
}

void recorder::thread_ends(void*) {
  recording_thread& t = this_thread;
  if (t.generation != the_recorder.generation_) return;
  t.ending = true;
  if (!t.busy) the_recorder.park(t);
}

void recorder::stop() {
  header_->cut_short = 1;
  page_->mode.store(off, std::memory_order_release);  // sync: begun
}

}  // namespace polder::trace
