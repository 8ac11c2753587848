#include "server/dataset/db_view.h"

#include <array>

#include "datatypes/hash.h"

namespace respite {

Entry* DbView::Add(Bytes key, StringContent&& content, int64_t deadline_ms) {
  unit_->ReportNewKey(index_, key);
  return MutableData().Add(key, HashOf(key), std::move(content), deadline_ms, NewKeyUsage());
}

Entry* DbView::Put(Entry* entry, Bytes key, StringContent&& content, int64_t deadline_ms) {
  if (entry == nullptr) return Add(key, std::move(content), deadline_ms);
  BlobRef blob;
  std::unique_ptr<Object> object;
  if (entry->Form() == ValueForm::kBlob) blob = entry->Blob();
  if (entry->Form() == ValueForm::kObject) object = entry->ReleaseObject();
  entry = MutableData().Assign(entry, std::move(content));
  if (Disposal* disposal = unit_->data().disposal; disposal != nullptr) {
    if (blob) disposal->FreeOverwritten(std::move(blob));
    if (object) disposal->FreeOverwritten(std::move(object));
  }
  return entry->Deadline() == deadline_ms ? entry : MutableData().SetDeadline(entry, deadline_ms);
}

Entry* DbView::Assign(Entry* entry, Bytes key, StringContent&& content) {
  if (entry == nullptr) return Add(key, std::move(content), kNoDeadline);
  return MutableData().Assign(entry, std::move(content));
}

std::vector<Database> DbView::Flush(std::span<const int> dbs) const {
  Keyspace& keyspace = unit_->data().keyspace;
  size_t keys = 0;
  for (int db : dbs) keys += keyspace[db].Size();
  unit_->ReportFlush(dbs, keys);
  std::vector<Database> contents;
  for (int db : dbs) contents.push_back(keyspace.Detach(db));
  OldValueKeeper* const keeper = unit_->data().keeper;
  for (size_t i = 0; keeper != nullptr && i < dbs.size(); ++i) keeper->OnFlushed(dbs[i], contents[i]);
  return contents;
}

bool DbView::HasExpiredFields(const Entry& entry) const { return View<Hash>(&entry).HasExpiredFields(); }

bool DbView::HasLivingFields(const Entry& entry) {
  unit_->PurgeLater(index_, entry.Key());
  return !entry.IsExpired(unit_->expiry_now_ms()) && !View<Hash>(&entry).AreAllFieldsExpired();
}

void DbView::Prefetch(std::span<const Bytes> arguments, size_t step) const {
  if (arguments.size() <= step) return;
  std::array<uint64_t, kPrefetchAhead> hashes;
  size_t count = 0;
  for (size_t at = 0; at < arguments.size() && count < hashes.size(); at += step)
    hashes[count++] = Data().Hash(arguments[at]);
  for (size_t i = 0; i < count; ++i) Data().PrefetchBucket(hashes[i]);
  for (size_t i = 0; i < count; ++i) Data().PrefetchEntry(hashes[i]);
}

}  // namespace respite
