// The system calls of each request, without the preparations that the C library makes for pthread_cancel around each
// call: two atomic instructions and about 30 others, as soon as the process has several threads. This server cancels no
// threads. Results and errno are those of the functions of the C library.
#pragma once

#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstddef>

namespace respite::direct {

inline ssize_t Receive(int socket, void* target, size_t size) {  // recv without flags
  return syscall(SYS_recvfrom, socket, target, size, 0, nullptr, nullptr);
}
inline ssize_t Send(int socket, const void* bytes, size_t size, int flags) {  // send
  return syscall(SYS_sendto, socket, bytes, size, flags, nullptr, 0);
}
inline int WaitForEvents(int set, epoll_event* events, int max_events, int timeout_ms) {  // epoll_wait
  return static_cast<int>(syscall(SYS_epoll_pwait, set, events, max_events, timeout_ms, nullptr, 0));
}

}  // namespace respite::direct
