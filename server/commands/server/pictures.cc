#include "server/commands/server/pictures.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/number_text.h"
#include "base/str_cat.h"

namespace respite {

namespace {

int64_t Below(Random& random, int64_t bound) {
  return static_cast<int64_t>(random.Below(static_cast<uint64_t>(std::max<int64_t>(bound, 1))));
}

// Returns the height of the skyline in each column. A house has three to eight columns of one height.
std::vector<int64_t> Roofs(Random& random, PictureSize size) {
  std::vector<int64_t> roofs;
  while (static_cast<int64_t>(roofs.size()) < size.columns) {
    const int64_t height = 1 + Below(random, std::max<int64_t>(size.rows * 3 / 4, 1));
    roofs.insert(roofs.end(), static_cast<size_t>(3 + Below(random, 6)), height);
  }
  return roofs;
}

char Wall(Random& random) { return Below(random, 4) == 0 ? '.' : '#'; }
char Sky(Random& random) { return Below(random, 40) == 0 ? '*' : ' '; }

}  // namespace

std::string Labyrinth(Random& random, PictureSize size) {
  std::string text;
  for (int64_t row = 0; row < size.rows; ++row) {
    for (int64_t column = 0; column < size.columns; ++column) text += Below(random, 2) == 0 ? '/' : '\\';
    text += '\n';
  }
  return text + "\nA way out is not promised. ";
}

std::string JuliaSet(PictureSize size, std::complex<double> constant) {
  constexpr std::string_view kShades = " .,:;ox%#@";
  constexpr double kWidth = 3.2, kHeight = 2.4;  // the part of the plane that is shown, with 0 in the middle
  std::string text;
  for (int64_t row = 0; row < size.rows; ++row) {
    for (int64_t column = 0; column < size.columns; ++column) {
      std::complex<double> z(kWidth * ((static_cast<double>(column) + .5) / static_cast<double>(size.columns) - .5),
                             kHeight * (.5 - (static_cast<double>(row) + .5) / static_cast<double>(size.rows)));
      size_t shade = 0;
      for (; shade + 1 < kShades.size() && std::norm(z) <= 4; ++shade) z = z * z + constant;
      text += kShades[shade];
    }
    text += '\n';
  }
  return StrCat(text, "\nThe Julia set of ", FixedText(constant.real(), 2), " + ", FixedText(constant.imag(), 2),
                "i. ");
}

std::string Skyline(Random& random, PictureSize size) {
  const std::vector<int64_t> roofs = Roofs(random, size);
  std::string text;
  for (int64_t height = size.rows; height > 0; --height) {
    for (int64_t column = 0; column < size.columns; ++column) {
      text += roofs[static_cast<size_t>(column)] >= height ? Wall(random) : Sky(random);
    }
    text += '\n';
  }
  return text + "\nSomeone is always awake. ";
}

}  // namespace respite
