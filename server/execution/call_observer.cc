#include "server/execution/call_observer.h"

#include <algorithm>

#include "server/clients/session.h"

namespace respite {

void CallObservers::Attach(CallObserver& observer, const CallThresholds& thresholds) {
  const auto same = [&observer](const Attachment& attachment) { return attachment.observer == &observer; };
  const auto found = std::find_if(attachments_.begin(), attachments_.end(), same);
  if (found == attachments_.end()) {
    attachments_.push_back({&observer, thresholds});
  } else {
    found->thresholds = thresholds;
  }
  Tidy();
}

void CallObservers::Detach(CallObserver& observer) {
  for (Attachment& attachment : attachments_) {
    if (attachment.observer == &observer) attachment.observer = nullptr;
  }
  Tidy();
}

// Removes detached observers from the list, and computes lowest_thresholds_ again. Removes no observer while ForEach
// runs, because ForEach needs stable positions in the list.
void CallObservers::Tidy() {
  if (depth_ == 0)
    std::erase_if(attachments_, [](const Attachment& attachment) { return attachment.observer == nullptr; });
  lowest_thresholds_ = {};
  for (const Attachment& attachment : attachments_) {
    if (attachment.observer == nullptr) continue;
    const CallThresholds& thresholds = attachment.thresholds;
    lowest_thresholds_ = {
        .reported_from_us = std::min(lowest_thresholds_.reported_from_us, thresholds.reported_from_us),
        .reported_from_request_bytes =
            std::min(lowest_thresholds_.reported_from_request_bytes, thresholds.reported_from_request_bytes),
        .reported_from_reply_bytes =
            std::min(lowest_thresholds_.reported_from_reply_bytes, thresholds.reported_from_reply_bytes)};
  }
}

template <class Visit>
void CallObservers::ForEach(Visit&& visit) {
  ++depth_;
  for (size_t at = 0; at < attachments_.size(); ++at) {  // by index, because observers may attach others
    const Attachment attachment = attachments_[at];
    if (attachment.observer != nullptr) visit(attachment);
  }
  if (--depth_ == 0) Tidy();
}

void CallObservers::NotifyOfCall(const FinishedCall& call) {
  ForEach([&call](const Attachment& attachment) {
    if (attachment.thresholds.IsReachedBy(call)) attachment.observer->OnCall(call);
  });
}

void CallObservers::OnRefusal(const RefusedCall& call) {
  ForEach([&call](const Attachment& attachment) { attachment.observer->OnRefusal(call); });
}

void CallObservers::OnWait(const WaitingCall& call) {
  ForEach([&call](const Attachment& attachment) { attachment.observer->OnWait(call); });
}

void CallObservers::OnQueued(const WaitingCall& call) {
  ForEach([&call](const Attachment& attachment) { attachment.observer->OnQueued(call); });
}

std::vector<Bytes> ArgumentsWithoutSecrets(const Session& session, std::span<const Bytes> arguments) {
  std::vector<Bytes> shown(arguments.begin(), arguments.end());
  for (size_t index : session.redacted_arguments) shown[index] = "(redacted)";
  return shown;
}

}  // namespace respite
