#include "server/net/name_resolver.h"

#include <gtest/gtest.h>
#include <netinet/in.h>

#include <latch>
#include <memory>

namespace respite {
namespace {

using std::chrono::milliseconds;

auto In(milliseconds time) { return std::chrono::steady_clock::now() + time; }
constexpr milliseconds kLong{20'000};

NameResolver::Addresses One() {
  HostAddress address{};
  reinterpret_cast<sockaddr_in&>(address.address).sin_family = AF_INET;
  address.size = sizeof(sockaddr_in);
  return {address};
}

TEST(NameResolver, NumbersNeedNoLookUp) {
  NameResolver resolver([](const auto&, const auto&) -> NameResolver::Addresses { std::abort(); });
  const auto found = resolver.Resolve("127.0.0.1", "6379", In(milliseconds(0)));
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found.value().size(), 1u);
  EXPECT_EQ(reinterpret_cast<const sockaddr_in&>(found.value()[0].address).sin_port, htons(6379));
  EXPECT_TRUE(resolver.Resolve("::1", "6379", In(milliseconds(0))).ok());
}

TEST(NameResolver, NamesAreLookedUpOnAnotherThread) {
  NameResolver resolver(
      [](const auto& host, const auto&) { return host == "here" ? One() : NameResolver::Addresses(); });
  EXPECT_TRUE(resolver.Resolve("here", "1", In(kLong)).ok());
  const auto missing = resolver.Resolve("nowhere", "1", In(kLong));
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error(), ResolveTrouble::kNoAddress);
}

TEST(NameResolver, ASlowLookUpTimesOut) {
  auto may_end = std::make_shared<std::latch>(1);
  auto ended = std::make_shared<std::latch>(NameResolver::kMaxLookUps);
  NameResolver resolver([=](const auto& host, const auto&) {
    if (host == "fast") return One();
    may_end->wait();
    ended->count_down();
    return One();
  });
  for (size_t i = 0; i < NameResolver::kMaxLookUps; ++i) {
    const auto late = resolver.Resolve("slow", "1", In(milliseconds(1)));
    ASSERT_FALSE(late.ok());
    EXPECT_EQ(late.error(), ResolveTrouble::kTimeout);
  }
  // The number of running look-ups is limited.
  const auto refused = resolver.Resolve("fast", "1", In(kLong));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error(), ResolveTrouble::kTimeout);
  may_end->count_down();
  ended->wait();
  while (!resolver.Resolve("fast", "1", In(kLong)).ok()) {
  }
}

}  // namespace
}  // namespace respite
