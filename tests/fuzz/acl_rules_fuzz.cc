// Rules of ACL SETUSER, one per argument: the result of RulesText must create the same user again, and both must allow
// and refuse the same requests. The first byte selects acl-pubsub-default.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "server/catalogue/command_table.h"
#include "server/clients/acl/user.h"
#include "server/commands/families.h"

namespace respite {
namespace {

// Splits a text; pieces may be empty.
std::vector<Bytes> Split(Bytes text, char separator) {
  std::vector<Bytes> words;
  size_t begin = 0;
  for (size_t end = text.find(separator); end != Bytes::npos; end = text.find(separator, begin)) {
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  words.push_back(text.substr(begin));
  return words;
}

class Twins {
 public:
  Twins(const CommandTable& table, AclPubsubDefault pubsub, Bytes text)
      : table_(table), user_("ann", table, pubsub), again_("ann", table, pubsub) {
    for (const std::string& rule : MergeSelectorArguments(Split(text, '\n')).rules) user_.Apply(rule, pubsub);
    const std::string description = user_.RulesText();
    const MergedRules rules = MergeSelectorArguments(Split(description, ' '));
    if (rules.unmatched) std::abort();
    again_.Apply("reset", pubsub);
    for (const std::string& rule : rules.rules) {
      if (again_.Apply(rule, pubsub) != nullptr) std::abort();
    }
    if (again_.RulesText() != description) std::abort();
  }

  void CompareChecks(Bytes word) const {
    table_.ForEach([&](const Command& command) {
      std::vector<Bytes> words(2, command.full_name);
      for (Bytes text : {word, Bytes("2"), Bytes("k1"), Bytes("k2"), Bytes("STORE"), Bytes("STREAMS")})
        words.push_back(text);
      AclRequest request(command, words, DatabaseOfClient{});
      AclRequest same(command, words, DatabaseOfClient{});
      const AclVerdict verdict = user_.Check(request);
      const AclVerdict other = again_.Check(same);
      if (verdict.denial != other.denial || verdict.word != other.word) std::abort();
      if (user_.IsUnlimited() && !verdict.IsAllowed()) std::abort();
    });
  }

 private:
  const CommandTable& table_;
  User user_;
  User again_;
};

}  // namespace
}  // namespace respite

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace respite;
  static const CommandTable table(CommandFamilies());
  if (size == 0) return 0;
  const Bytes text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto pubsub = data[0] % 2 == 0 ? AclPubsubDefault::kAllChannels : AclPubsubDefault::kResetChannels;
  Twins twins(table, pubsub, text);
  twins.CompareChecks(text.substr(0, text.find('\n')));
  return 0;
}
