// A disk that answers late, for programs that do not know: LD_PRELOAD=slow_disk.so.
//   SLOW_DISK_UNDER    the folder whose files are slow
//   SLOW_DISK_OPEN_US  what each open takes longer
//   SLOW_DISK_READ_US  what each read takes longer
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

namespace {

std::atomic<bool> g_slow[65536];  // by descriptor

long setting(const char* name) {
  const char* text = getenv(name);
  return text ? atol(text) : 0;
}

// One request at a time, as an old disk: more threads do not make it faster.
pthread_mutex_t g_arm = PTHREAD_MUTEX_INITIALIZER;

void delay(long us) {
  if (us <= 0) return;
  pthread_mutex_lock(&g_arm);
  timespec t{us / 1'000'000, (us % 1'000'000) * 1000};
  while (nanosleep(&t, &t) != 0) {
  }
  pthread_mutex_unlock(&g_arm);
}

bool is_slow(const char* path) {
  const char* under = getenv("SLOW_DISK_UNDER");
  return under && *under && strncmp(path, under, strlen(under)) == 0;
}

bool is_slow(int fd) { return fd >= 0 && fd < 65536 && g_slow[fd]; }

template <typename F>
F real(const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}

int opened(int fd, const char* path) {
  if (fd < 0 || fd >= 65536) return fd;
  g_slow[fd] = is_slow(path);
  if (g_slow[fd]) delay(setting("SLOW_DISK_OPEN_US"));
  return fd;
}

}  // namespace

#define SLOW_OPEN(name)                                                             \
  int name(const char* path, int flags, ...) {                                      \
    static const auto next = real<int (*)(const char*, int, ...)>(#name);           \
    va_list more;                                                                   \
    va_start(more, flags);                                                          \
    const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(more, mode_t) : 0; \
    va_end(more);                                                                   \
    return opened(next(path, flags, mode), path);                                   \
  }
#define SLOW_READ(name, offset)                                                    \
  ssize_t name(int fd, void* into, size_t n, offset at) {                          \
    static const auto next = real<ssize_t (*)(int, void*, size_t, offset)>(#name); \
    if (is_slow(fd)) delay(setting("SLOW_DISK_READ_US"));                          \
    return next(fd, into, n, at);                                                  \
  }

extern "C" {

SLOW_OPEN(open)
SLOW_OPEN(open64)
SLOW_READ(pread, off_t)
SLOW_READ(pread64, off64_t)

ssize_t read(int fd, void* into, size_t n) {
  static const auto next = real<ssize_t (*)(int, void*, size_t)>("read");
  if (is_slow(fd)) delay(setting("SLOW_DISK_READ_US"));
  return next(fd, into, n);
}

// What a build with _FORTIFY_SOURCE calls instead.
int __open_2(const char* path, int flags) { return open(path, flags); }
int __open64_2(const char* path, int flags) { return open64(path, flags); }
ssize_t __read_chk(int fd, void* into, size_t n, size_t) { return read(fd, into, n); }
ssize_t __pread_chk(int fd, void* into, size_t n, off_t at, size_t) {
  return pread(fd, into, n, at);
}
ssize_t __pread64_chk(int fd, void* into, size_t n, off64_t at, size_t) {
  return pread64(fd, into, n, at);
}

// As some network file systems: nothing of it can be mapped.
void* mmap(void* at, size_t n, int protection, int flags, int fd, off_t offset) {
  if (is_slow(fd)) {
    errno = ENODEV;
    return MAP_FAILED;
  }
  return reinterpret_cast<void*>(syscall(SYS_mmap, at, n, protection, flags, fd, offset));
}
void* mmap64(void* at, size_t n, int protection, int flags, int fd, off64_t offset) {
  return mmap(at, n, protection, flags, fd, offset);
}

int close(int fd) {
  static const auto next = real<int (*)(int)>("close");
  if (fd >= 0 && fd < 65536) g_slow[fd] = false;
  return next(fd);
}

}  // extern "C"
