#include "datatypes/list.h"

#include <memory>
#include <utility>
#include <vector>

namespace respite {

size_t List::Size() const {
  if (!Exists()) return 0;
  return IsPacked() ? AsListpack().Count() : Chunks().Size();
}

bool List::IsEmpty() const {
  if (!Exists()) return true;
  return IsPacked() ? AsListpack().IsEmpty() : Chunks().Size() == 0;
}

// Converts a listpack to chunks if the new elements would make the listpack too large. As in Redis, counts only the
// lengths of the new texts, without the overhead of listpack elements.
void List::PrepareToAdd(std::span<const Bytes> elements) {
  if (!IsPacked()) return;
  size_t bytes = slot_.Size();
  for (const Bytes element : elements) bytes += element.size();
  if (!FillLimit().Admits(bytes, Size() + elements.size())) ConvertToChunks();
}

void List::ConvertToChunks() {
  const Listpack packed = AsListpack();
  auto chunks = std::make_unique<ChunkedList>(FillLimit());
  ListChunk chunk;
  for (size_t at = packed.Begin(); at != packed.End(); at = packed.Next(at)) chunk.PushBack(packed.TextAt(at).View());
  if (!chunk.IsEmpty()) chunks->AppendChunk(std::move(chunk));
  slot_.ConvertTo(std::move(chunks));
}

void List::ConvertToListpackIfSmall() {
  if (IsPacked() || Chunks().ChunkCount() != 1) return;
  const ListChunk& chunk = Chunks().Chunk(0);
  if (chunk.ListpackBytes() > FillLimit().MaxBytes() / 2 || chunk.Count() > FillLimit().MaxCount() / 2) return;
  StringStore packed(Listpack::Empty());
  for (ChunkCursor cursor(chunk, 0); cursor.IsValid(); cursor.Next()) {
    AppendElement(packed, EncodedElement(cursor.Element()));
  }
  slot_.ConvertTo(ValueForm::kListpack, packed.View());
}

void List::PushToListpack(ListEnd end, std::span<const Bytes> elements) {
  if (elements.size() == 1) {
    const Listpack packed = AsListpack();
    return InsertElement(slot_, end == ListEnd::kHead ? packed.Begin() : packed.End(), EncodedElement(elements[0]));
  }
  std::vector<EncodedElement> encoded;
  encoded.reserve(elements.size());
  if (end == ListEnd::kTail) {
    for (const Bytes element : elements) encoded.emplace_back(element);
    return InsertElements(slot_, AsListpack().End(), encoded);
  }
  for (size_t i = elements.size(); i > 0; --i) encoded.emplace_back(elements[i - 1]);
  InsertElements(slot_, AsListpack().Begin(), encoded);
}

void List::Push(ListEnd end, std::span<const Bytes> elements) {
  PrepareToAdd(elements);
  if (IsPacked()) return PushToListpack(end, elements);
  ChunkedList& chunks = Chunks();
  for (const Bytes element : elements) chunks.Push(end, element);
}

void List::PopWithoutConversion(ListEnd end) {
  if (!IsPacked()) return Chunks().Pop(end);
  RemoveElements(slot_, end == ListEnd::kHead ? AsListpack().Begin() : AsListpack().Last(), 1);
}

void List::Pop(ListEnd end) {
  PopWithoutConversion(end);
  ConvertToListpackIfSmall();
}

// Moves one element, and then checks whether the list should become a listpack. A check between removal and push would
// convert a list of chunks too early.
void List::Rotate(ListEnd from, ListEnd to) {
  const std::string element(ListCursor(*this, from == ListEnd::kHead ? 0 : Size() - 1).Element());
  const Bytes view = element;
  PopWithoutConversion(from);
  Push(to, {&view, 1});
  ConvertToListpackIfSmall();
}

// As in Redis, calls PrepareToAdd before the search for the pivot. So the encoding may change even if no element is
// inserted.
bool List::Insert(Bytes pivot, ListSide side, Bytes element) {
  PrepareToAdd({&element, 1});
  if (IsPacked()) {
    const size_t at = AsListpack().Find(pivot, AsListpack().Begin());
    if (at == Listpack::kNowhere) return false;
    InsertElement(slot_, side == ListSide::kBefore ? at : AsListpack().Next(at), EncodedElement(element));
    return true;
  }
  ChunkedList& chunks = Chunks();
  const std::optional<ChunkedList::Place> place = chunks.Find(pivot);
  if (!place) return false;
  side == ListSide::kBefore ? chunks.InsertBefore(*place, element) : chunks.InsertAfter(*place, element);
  return true;
}

// As in Redis, calls PrepareToAdd before the check of the index. So the encoding may change even if no element is
// replaced.
bool List::Replace(size_t index, Bytes element) {
  PrepareToAdd({&element, 1});
  if (index >= Size()) return false;
  if (IsPacked()) {
    ReplaceElement(slot_, AsListpack().Seek(index), EncodedElement(element));
  } else {
    Chunks().Replace(Chunks().PlaceOf(index), element);
    ConvertToListpackIfSmall();
  }
  return true;
}

void List::EraseRange(size_t index, size_t count) {
  if (!IsPacked()) {
    if (count > 0) Chunks().EraseRange(index, count);
    ConvertToListpackIfSmall();  // Redis: LTRIM makes a small list a listpack even if it trims nothing
  } else if (count > 0) {
    RemoveElements(slot_, AsListpack().Seek(index), count);
  }
}

size_t List::EraseEqualInListpack(const EncodedElement& element, size_t max_count, ListEnd from) {
  size_t erased = 0;
  if (from == ListEnd::kHead) {
    for (size_t at = AsListpack().Begin(); erased < max_count; ++erased) {
      at = AsListpack().Find(element, at);
      if (at == Listpack::kNowhere) break;
      RemoveElements(slot_, at, 1);
    }
    return erased;
  }
  for (size_t at = AsListpack().End(); at != AsListpack().Begin() && erased < max_count;) {
    at = AsListpack().Previous(at);
    if (!element.Matches(slot_.Data() + at)) continue;
    RemoveElements(slot_, at, 1);
    ++erased;
  }
  return erased;
}

size_t List::EraseEqual(Bytes element, size_t max_count, ListEnd from) {
  if (IsPacked()) return EraseEqualInListpack(EncodedElement(element), max_count, from);
  const size_t erased = Chunks().EraseEqual(element, max_count, from);
  if (erased > 0) ConvertToListpackIfSmall();
  return erased;
}

ListCursor::ListCursor(const List& list, size_t index) {
  if (index >= list.Size()) return;
  if (list.IsPacked()) {
    packed_ = list.AsListpack();
    at_ = packed_.Seek(index);
  } else {
    chunked_.emplace(list.Chunks(), list.Chunks().PlaceOf(index));
  }
}

Bytes ListCursor::PackedElementText() {
  const PackedElement element = packed_.At(at_);
  if (!element.is_integer) return element.text;
  digits_ = IntegerText(element.integer);
  return digits_;
}

void ListCursor::NextInListpack() {
  at_ = packed_.Next(at_);
  if (at_ == packed_.End()) at_ = Listpack::kNowhere;
}

void ListCursor::PreviousInListpack() { at_ = at_ == packed_.Begin() ? Listpack::kNowhere : packed_.Previous(at_); }

}  // namespace respite
