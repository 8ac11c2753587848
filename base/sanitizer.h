// RESPITE_SANITIZED is defined if the build uses the address or thread sanitizer. Both have their own allocator.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define RESPITE_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define RESPITE_SANITIZED
#endif
#endif
