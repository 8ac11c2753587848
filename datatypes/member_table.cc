#include "datatypes/member_table.h"

#include <algorithm>
#include <unordered_set>

namespace respite {

MemberTable::~MemberTable() { ForEach(Member::Destroy); }

std::unique_ptr<Object> MemberTable::Clone() const {
  auto copy = std::make_unique<MemberTable>(hash_key());
  ForEach([&](const Member& member) { copy->Adopt(Member::Create(member.Text())); });
  return copy;
}

size_t MemberTable::UsedBytes(size_t samples) const {
  size_t seen = 0;
  size_t beyond = 0;  // bytes outside the handles
  if (samples == 0) samples = Size();
  ForEachWhile([&](const Member& member) {
    beyond += member.UsedBytes();
    return ++seen < samples;
  });
  if (seen != 0 && seen < Size()) {
    beyond = static_cast<size_t>(static_cast<double>(beyond) / static_cast<double>(seen) * static_cast<double>(Size()));
  }
  return sizeof *this + index_.UsedBytes() + beyond;
}

bool MemberTable::Add(Bytes text) {
  const uint64_t hash = Hash(text);
  if (Contains(text, hash)) return false;
  index_.Insert(Member::Create(text), hash);
  return true;
}

bool MemberTable::Remove(Bytes text) {
  const Member member = Take(text);
  if (!member) return false;
  Member::Destroy(member);
  return true;
}

namespace {

// IdentityHash hashes Member::Identity() with a secret key, because the identity of a short member is its text, which
// clients choose.
struct IdentityHash {
  HashKey key;
  size_t operator()(uint64_t identity) const {
    return HashBytes({reinterpret_cast<const char*>(&identity), sizeof identity}, key);
  }
};

}  // namespace

std::vector<Member> MemberTable::Sample(size_t count, Random& random) const {
  std::vector<Member> chosen;
  if (count < Size() / 3) {  // duplicates are rare
    std::unordered_set<uint64_t, IdentityHash> seen(0, IdentityHash{hash_key()});
    while (chosen.size() < count) {
      const Member member = PickRandom(random);
      if (seen.insert(member.Identity()).second) chosen.push_back(member);
    }
    return chosen;
  }
  chosen.reserve(Size());
  ForEach([&](const Member& member) { chosen.push_back(member); });
  for (size_t i = 0; i < count; ++i) std::swap(chosen[i], chosen[i + random.Below(chosen.size() - i)]);
  chosen.resize(count);
  return chosen;
}

}  // namespace respite
