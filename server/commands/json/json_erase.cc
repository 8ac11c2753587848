#include "server/commands/json/json_erase.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace respite {

namespace {

using MatchPlaces = std::vector<std::pair<const JsonValue*, size_t>>;  // the container of a match, and its place there

// Removes the elements at `places` and returns their number. `places` is in ascending order. If a place occurs several
// times, each further time removes the next element that is left after this place.
size_t EraseElements(JsonValue& array, std::span<const MatchPlaces::value_type> places) {
  std::vector<size_t> kept;  // the elements from the current one on, in descending order
  auto next = places.rbegin();
  for (size_t i = array.Size(); i-- > 0;) {
    kept.push_back(i);
    for (; next != places.rend() && next->second == i; ++next) {
      if (!kept.empty()) kept.pop_back();
    }
  }
  return array.EraseIf([&](size_t i) {
    const bool is_kept = !kept.empty() && kept.back() == i;
    if (is_kept) kept.pop_back();
    return !is_kept;
  });
}

// Removes the members of `object` at these places. Returns the number of removed members.
size_t EraseMembers(JsonValue& object, std::span<const MatchPlaces::value_type> places) {
  if (places.size() == 1) {
    object.EraseMember(places.front().second);
    return 1;
  }
  std::vector<bool> is_erased(object.Size());
  for (const auto& place : places) is_erased[place.second] = true;
  std::vector<uint32_t> order(object.Size()), place_of(object.Size());
  std::iota(order.begin(), order.end(), 0U);
  std::iota(place_of.begin(), place_of.end(), 0U);
  for (const uint32_t number : object.MembersByName()) {
    if (!is_erased[number]) continue;
    order[place_of[number]] = order.back();
    place_of[order.back()] = place_of[number];
    order.pop_back();
  }
  const size_t erased = object.Size() - order.size();
  object.Arrange(order, {});
  return erased;
}

// Visits the document from the root, so that matches inside a removed value are not counted. Removes values from a
// container only after the containers inside it were visited, because removing moves them. `places` are sorted.
size_t EraseInside(JsonValue& value, const MatchPlaces& places) {
  if (!value.IsContainer() || value.IsPacked()) return 0;
  const auto first = std::lower_bound(
      places.begin(), places.end(), &value,
      [](const auto& place, const JsonValue* container) { return std::less<>()(place.first, container); });
  const auto last = std::find_if(first, places.end(), [&](const auto& place) { return place.first != &value; });
  const std::span<const MatchPlaces::value_type> mine(first, last);
  size_t erased = 0;
  auto next = mine.begin();
  for (size_t i = 0; i < value.Size(); ++i) {
    if (next != mine.end() && next->second == i) {
      while (next != mine.end() && next->second == i) ++next;
    } else {
      erased +=
          EraseInside(value.Is(JsonKind::kArray) ? value.ElementsToChange()[i] : value.Members()[i].value, places);
    }
  }
  if (mine.empty()) return erased;
  return erased + (value.Is(JsonKind::kArray) ? EraseElements(value, mine) : EraseMembers(value, mine));
}

}  // namespace

size_t PlaceInJson(const JsonValue& parent, const JsonValue& value) {
  if (parent.Is(JsonKind::kArray)) return static_cast<size_t>(&value - parent.Elements()[0].InMemory());
  const auto* member = reinterpret_cast<const char*>(&value) - offsetof(JsonMember, value);
  return static_cast<size_t>(reinterpret_cast<const JsonMember*>(member) - parent.Members().data());
}

size_t EraseJsonMatches(JsonValue& root, const JsonMatches& matches) {
  if (matches.size() == 1) {
    auto& parent = const_cast<JsonValue&>(*matches.front().Parent());
    const size_t place = PlaceInJson(parent, *matches.front().InMemory());
    parent.Is(JsonKind::kArray) ? parent.EraseRange(place, 1) : parent.EraseMember(place);
    return 1;
  }
  MatchPlaces places;
  places.reserve(matches.size());
  for (const JsonMatch& match : matches)
    places.emplace_back(match.Parent(), PlaceInJson(*match.Parent(), *match.InMemory()));
  std::ranges::sort(places);
  return EraseInside(root, places);
}

}  // namespace respite
