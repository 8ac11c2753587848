// Reads and writes lists in RDB form: sequences of nodes. A node corresponds to one ListChunk of a list in memory.
#include <memory>

#include "datatypes/chunked_list.h"
#include "persistence/rdb_types.h"

namespace respite {

namespace {

constexpr size_t kPlainFrom = size_t{1} << 30;  // Redis: an element of this size gets a node without a listpack

ChunkLimit LimitOf(const RdbEntryProperties& target) { return ChunkLimit(target.limits.list_max_listpack_size); }

void AppendElements(ListpackMaker& maker, const ListChunk& chunk) {
  for (ChunkCursor cursor(chunk, 0); cursor.IsValid(); cursor.Next()) maker.AppendText(cursor.Element());
}

std::string ListpackOf(const ListChunk& chunk) {
  ListpackMaker maker;
  AppendElements(maker, chunk);
  return maker.Take();
}

// Creates the entry for a list. If the list is one chunk within the limits of a listpack, the entry is a listpack,
// otherwise a ChunkedList.
RdbValueResult MakeList(std::unique_ptr<ChunkedList> list, const RdbEntryProperties& target) {
  if (list->Size() == 0) return EmptyValueFault();
  const ListChunk& first = list->Chunk(0);
  if (list->ChunkCount() == 1 && LimitOf(target).Admits(first.ListpackBytes(), first.Count()))
    return MakePackedEntry(target, ValueType::kList, ValueForm::kListpack, ListpackOf(first));
  return MakeObjectEntry(target, ValueType::kList, std::move(list));
}

RdbValueResult ReadPlainList(RdbInput& input, const RdbEntryProperties& target) {
  auto list = std::make_unique<ChunkedList>(LimitOf(target));
  for (uint64_t count = input.Count(1); count > 0 && !input.Failed(); --count) {
    list->Push(ListEnd::kTail, input.Text().View());
    input.FreeTexts();
  }
  return MakeList(std::move(list), target);
}

// Reads a list that is stored as one ziplist. As in Redis, the list has the encoding quicklist, never listpack, even if
// it is small.
RdbValueResult ReadListZiplist(RdbInput& input, const RdbEntryProperties& target) {
  const RdbText text = input.Text();
  const auto elements = ZiplistElements(text.View());
  if (!elements) return BadValueFault("List ziplist integrity check failed.");
  if (elements->empty()) return EmptyValueFault();
  auto list = std::make_unique<ChunkedList>(LimitOf(target));
  for (const PackedElement& element : *elements) list->Push(ListEnd::kTail, ElementText(element).View());
  return MakeObjectEntry(target, ValueType::kList, std::move(list));
}

// Returns the elements of a node, as views of `text`. Returns nullopt if the node is malformed.
std::optional<PackedElements> NodeElements(uint64_t kind, rdb::Type type, Bytes text) {
  if (type == rdb::Type::kListQuicklist) return ZiplistElements(text);
  if (kind == rdb::kNodePacked) return ListpackElements(text);
  if (kind != rdb::kNodePlain || text.empty()) return std::nullopt;
  return PackedElements{{.text = text}};
}

// Returns true if `node`, the only node of a list in an RDB, can become the value of the key as it is. The node must be
// a listpack with the very bytes that this server would write, must not be empty, and must be within the limit of this
// server (LimitOf).
bool MayStoreUnchanged(Bytes node, const RdbEntryProperties& target) {
  const CanonicalListpack listpack(node);
  return listpack.IsCanonical() && listpack.Count() > 0 && LimitOf(target).Admits(node.size(), listpack.Count());
}

// Reads a list that is stored as nodes. As Redis does, skips empty nodes.
RdbValueResult ReadNodes(RdbInput& input, rdb::Type type, const RdbEntryProperties& target) {
  auto list = std::make_unique<ChunkedList>(LimitOf(target));
  const uint64_t nodes = input.Count(1);
  for (uint64_t count = nodes; count > 0 && !input.Failed(); --count) {
    const uint64_t kind = type == rdb::Type::kListQuicklist2 ? input.Length() : 0;
    const RdbText text = input.Text();
    if (nodes == 1 && kind == rdb::kNodePacked && MayStoreUnchanged(text.View(), target))
      return MakePackedEntry(target, ValueType::kList, ValueForm::kListpack, text.View());
    const auto elements = NodeElements(kind, type, text.View());
    if (!elements) return BadValueFault("Quicklist integrity check failed.");
    ListChunk chunk;
    for (const PackedElement& element : *elements) chunk.PushBack(ElementText(element).View());
    input.FreeTexts();
    if (chunk.IsEmpty()) continue;
    if (count > 1) chunk.Seal();
    list->AppendChunk(std::move(chunk));
  }
  return MakeList(std::move(list), target);
}

void WriteNode(RdbOutput& out, const ListChunk& chunk, ListpackMaker& maker) {
  ChunkCursor cursor(chunk, 0);
  if (chunk.Count() == 1 && cursor.Element().size() >= kPlainFrom) {
    out.Length(rdb::kNodePlain);
    return out.Text(cursor.Element());
  }
  out.Length(rdb::kNodePacked);
  maker.Clear();
  AppendElements(maker, chunk);
  out.Text(maker.Finish());
}

}  // namespace

RdbValueResult ReadRdbList(RdbInput& input, rdb::Type type, const RdbEntryProperties& target) {
  if (type == rdb::Type::kList) return ReadPlainList(input, target);
  if (type == rdb::Type::kListZiplist) return ReadListZiplist(input, target);
  return ReadNodes(input, type, target);
}

void WriteRdbList(RdbOutput& out, const Entry& entry) {
  if (entry.Form() == ValueForm::kListpack) {
    out.Length(1);
    out.Length(rdb::kNodePacked);
    return out.Text(entry.Packed());
  }
  const auto& list = static_cast<const ChunkedList&>(*entry.ObjectValue());
  out.Length(list.ChunkCount());
  ListpackMaker maker;
  for (size_t i = 0; i < list.ChunkCount(); ++i) WriteNode(out, list.Chunk(i), maker);
}

}  // namespace respite
