#include "server/lab/lint/slot_check.h"

#include "base/key_slot.h"
#include "base/str_cat.h"
#include "server/clients/session.h"

namespace respite {

namespace {

using Place = RequestFaults::Place;

}  // namespace

void SlotCheck::CheckBeforeCall(const LintRequest& request, LintRemarks& remarks) {
  if (request.place == Place::kQueued) return;
  if (request.place == Place::kSent) first_key_ = {};
  if (request.RunsScript()) {
    declared_keys_.clear();
    for (const KeyRef& key : request.keys) declared_keys_.emplace(request.words[key.index]);
  }
  if (request.place == Place::kInScript) CheckUndeclaredKeys(request, remarks);
  for (const KeyRef& key : request.keys) CheckCrossSlot(request.words[key.index], remarks);
  const bool executes = request.command.Spec().transaction == TransactionRole::kExecutes;
  if (executes && request.place == Place::kSent) CheckTransactionSlots(request, remarks);
  if (request.Is("select") && request.words[1] != "0") {
    remarks.push_back({.rule = LintRule::kSelectInCluster,
                       .why = "SELECT " + QuotedForRemark(request.words[1]) + " fails in a cluster"});
  }
}

// Checks the keys of all queued commands before EXEC runs the first of them.
void SlotCheck::CheckTransactionSlots(const LintRequest& request, LintRemarks& remarks) {
  if (!request.client.InTransaction()) return;
  request.client.transaction->ForEach([&](const Command& command, std::span<const Bytes> words) {
    for (const KeyRef& key : KeysForAclCheck(command.Spec(), words)) CheckCrossSlot(words[key.index], remarks);
  });
}

void SlotCheck::CheckCrossSlot(Bytes key, LintRemarks& remarks) {
  if (!first_key_.key) first_key_.key = std::string(key);
  if (first_key_.has_remark || KeySlot(key) == KeySlot(*first_key_.key)) return;
  first_key_.has_remark = true;
  remarks.push_back(
      {.rule = LintRule::kCrossSlot,
       .why = StrCat(QuotedForRemark(*first_key_.key), " is in slot ", KeySlot(*first_key_.key), ", ",
                     QuotedForRemark(key), " in slot ", KeySlot(key), ": a cluster refuses to use both at once"),
       .key = std::string(key)});
}

void SlotCheck::CheckUndeclaredKeys(const LintRequest& request, LintRemarks& remarks) {
  for (const KeyRef& key : request.keys) {
    const Bytes name = request.words[key.index];
    if (declared_keys_.contains(name)) continue;
    remarks.push_back({.rule = LintRule::kUndeclaredKey,
                       .why = "a script uses " + QuotedForRemark(name) +
                              ", which is not in its KEYS: a cluster cannot tell which node has to run it",
                       .key = std::string(name)});
  }
}

}  // namespace respite
