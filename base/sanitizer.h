// RESPITE_SANITIZED is defined when the address or the thread sanitizer is compiled in: they bring an allocator of
// their own.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define RESPITE_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define RESPITE_SANITIZED
#endif
#endif
