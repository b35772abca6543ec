#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include <polder/base/check.hpp>
#include <polder/os/ended_thread.hpp>
#include <polder/os/linux/without_signal.hpp>
#include <polder/os/system_call.hpp>
#include <polder/os/timeline_file.hpp>

namespace polder::os::timeline {
namespace {

std::string_view reason(int error) {
  switch (error) {
    case ENOENT: return "there is no such folder";
    case EACCES:
    case EPERM: return "that is not permitted";
    case EISDIR: return "it is a folder";
    case ENOTDIR: return "what should be a folder on the way to it is none";
    case ENOSPC:
    case EDQUOT: return "the disk is full";
    case EFBIG: return "the limit on the size of files is reached";
    case EROFS: return "the disk is read-only";
    case ESPIPE: return "it is no regular file";
    case ENAMETOOLONG: return "its name is too long";
    case EMFILE:
    case ENFILE: return "too many files are open";
    case EEXIST: return "there is a file that is no timeline";
    default: return {};
  }
}

bool fail(std::string_view file, int error) {
  line l;
  l << "polder: timeline: cannot write " << file << ": ";
  if (const std::string_view why = reason(error); !why.empty()) l << why;
  else l << "error " << error;
  return false;
}

class output {
 public:
  explicit output(file_name& name, int how = 0) noexcept
      : fd_(system_call(SYS_openat, AT_FDCWD, name.for_kernel(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | how,
                        0644)) {
    const long end = fd_ < 0 ? fd_ : seek(0, SEEK_END);
    if (end < 0) error_ = int(-end);
    else seek(0, SEEK_SET);
  }
  ~output() {
    if (fd_ >= 0) system_call(SYS_close, fd_);
  }
  output(const output&) = delete;
  output& operator=(const output&) = delete;

  int error() const { return error_; }
  // False: another process looks at it this moment. Where there are no locks nobody is kept out.
  bool lock() { return system_call(SYS_flock, fd_, LOCK_EX | LOCK_NB) != -EWOULDBLOCK; }
  long seek(long to, int from) { return system_call(SYS_lseek, fd_, to, from); }
  long read(void* to, std::size_t bytes) { return system_call(SYS_read, fd_, to, bytes); }
  void cut() {
    if (error_ != 0) return;
    const long refused = system_call(SYS_ftruncate, fd_, 0);
    if (refused != 0 && refused != -EINVAL) error_ = int(-refused);  // EINVAL: /dev/null
  }
  void put(const void* from, std::size_t bytes) {
    const char* at = static_cast<const char*>(from);
    while (error_ == 0 && bytes != 0) {
      const long n = system_call(SYS_write, fd_, at, bytes);
      if (n > 0) at += n, bytes -= std::size_t(n);
      else if (n == 0) error_ = ENOSPC;
      else if (n != -EINTR) error_ = int(-n);
    }
  }

 private:
  const long fd_;
  int error_ = 0;
};

bool another_lives(std::uint32_t pid) {
  if (pid == 0 || pid == own_process_number()) return false;
  const long refused = system_call(SYS_kill, pid, 0);
  return refused == 0 || refused == -EPERM;
}

// A thread that lives may have been given its name since.
void read_name(thread_entry& e) {
  text_buffer<64> name;
  name << "/proc/self/task/" << e.tid << "/comm" << '\0';
  const long fd = system_call(SYS_openat, AT_FDCWD, name.text().data(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  char text[sizeof e.name] = {};
  const long n = system_call(SYS_read, fd, text, sizeof text);
  system_call(SYS_close, fd);
  for (long i = 0; i < n; ++i) e.name[i] = text[i] == '\n' ? '\0' : text[i];
}

// What timeline-kept promises, in a form that ThreadSanitizer sees: it does not look into the call that writes.
[[maybe_unused]] bool whole(const buffer& b) {
  return std::all_of(b.begin_of_events(), b.begin_of_events() + b.written,
                     [&](const event& e) { return e.start <= e.end && e.thread == b.number(); });
}

}  // namespace

void make_absolute(file_name& to, std::string_view file) noexcept {
  char folder[480];
  if (!file.starts_with('/') && system_call(SYS_getcwd, folder, sizeof folder) > 0) to << folder << "/";
  to << file;
}

bool claim(file_name& file, const header& h) noexcept {
  const without_signal quiet(SIGXFSZ);
  for (bool again : {true, false}) {
    output out(file);
    if (out.error() != 0) return fail(file.text(), out.error());
    const bool ours = out.lock();
    header there;
    const long n = out.read(&there, sizeof there);
    if (n > 0 && (n < long(sizeof there) || there.magic != magic)) return fail(file.text(), EEXIST);
    if (again && (!ours || (n > 0 && there.state == file_state::begun && another_lives(there.pid)))) {
      file.add_pid(h.pid);
      continue;
    }
    out.seek(0, SEEK_SET);
    out.cut();
    out.put(&h, sizeof h);
    return out.error() == 0 || fail(file.text(), out.error());
  }
  return false;
}

bool write(file_name& file, header& h, buffer* all, std::uint32_t session) noexcept {
  const without_signal quiet(SIGXFSZ);
  output out(file);
  // A thread may begin meanwhile: it comes too late.
  h.threads = 0;
  for (buffer* b = all; b != nullptr; b = b->next) h.threads += b->chosen = b->is_of(session);
  out.cut();
  h.state = file_state::begun;
  out.put(&h, sizeof h);
  for (unsigned k = 0; k != kinds; ++k) {
    kind_entry e{.number = kind(k), .form = kind_names[k].form};
    kind_names[k].name.copy(e.name, sizeof e.name - 1);
    out.put(&e, sizeof e);
  }
  for (buffer* b = all; b != nullptr; b = b->next) {
    if (!b->chosen) continue;
    thread_entry e;
    b->describe(e);
    read_name(e);
    e.events = b->written = b->count();
    out.put(&e, sizeof e);
  }
  for (buffer* b = all; b != nullptr; b = b->next) {
    if (!b->chosen) continue;
    POLDER_CHECK(2, whole(*b));
    out.put(b->begin_of_events(), b->written * sizeof(event));
  }
  h.state = file_state::complete;
  if (out.error() == 0) {
    out.seek(0, SEEK_SET);
    out.put(&h, sizeof h);
  }
  return out.error() == 0 || fail(file.text(), out.error());
}

}  // namespace polder::os::timeline
