#include "base/grisu.h"

#include <bit>
#include <cstdint>

namespace respite {

namespace {

__extension__ using Wide = unsigned __int128;

// The number fraction * 2^exponent.
struct Scaled {
  uint64_t fraction;
  int exponent;

  Scaled Normalized() const {
    const int shift = std::countl_zero(fraction);
    return {fraction << shift, exponent - shift};
  }
};

constexpr int kFractionBits = 52;
constexpr uint64_t kHiddenBit = uint64_t{1} << kFractionBits;

Scaled Split(double value) {
  constexpr int kBias = 1023 + kFractionBits;
  constexpr int kDenormalExponent = 1 - kBias;
  const auto bits = std::bit_cast<uint64_t>(value);
  const uint64_t fraction = bits & (kHiddenBit - 1);
  const int exponent = static_cast<int>((bits >> kFractionBits) & 0x7ff);
  return exponent == 0 ? Scaled{fraction, kDenormalExponent} : Scaled{fraction | kHiddenBit, exponent - kBias};
}

// Returns the product of two scaled numbers: the high 64 bits of the product of the fractions, rounded.
Scaled Multiply(Scaled a, Scaled b) {
  const Wide product = Wide{a.fraction} * b.fraction + (Wide{1} << 63);
  return {static_cast<uint64_t>(product >> 64), a.exponent + b.exponent + 64};
}

// kPowers[i] is the power of ten 10^(kFirstPower + kPowerStep * i), rounded to 64 bits.
constexpr int kFirstPower = -348;
constexpr int kPowerStep = 8;
constexpr std::array<uint64_t, 87> kPowers = {
    0xfa8fd5a0081c0288, 0xbaaee17fa23ebf76, 0x8b16fb203055ac76, 0xcf42894a5dce35ea, 0x9a6bb0aa55653b2d,
    0xe61acf033d1a45df, 0xab70fe17c79ac6ca, 0xff77b1fcbebcdc4f, 0xbe5691ef416bd60c, 0x8dd01fad907ffc3c,
    0xd3515c2831559a83, 0x9d71ac8fada6c9b5, 0xea9c227723ee8bcb, 0xaecc49914078536d, 0x823c12795db6ce57,
    0xc21094364dfb5637, 0x9096ea6f3848984f, 0xd77485cb25823ac7, 0xa086cfcd97bf97f4, 0xef340a98172aace5,
    0xb23867fb2a35b28e, 0x84c8d4dfd2c63f3b, 0xc5dd44271ad3cdba, 0x936b9fcebb25c996, 0xdbac6c247d62a584,
    0xa3ab66580d5fdaf6, 0xf3e2f893dec3f126, 0xb5b5ada8aaff80b8, 0x87625f056c7c4a8b, 0xc9bcff6034c13053,
    0x964e858c91ba2655, 0xdff9772470297ebd, 0xa6dfbd9fb8e5b88f, 0xf8a95fcf88747d94, 0xb94470938fa89bcf,
    0x8a08f0f8bf0f156b, 0xcdb02555653131b6, 0x993fe2c6d07b7fac, 0xe45c10c42a2b3b06, 0xaa242499697392d3,
    0xfd87b5f28300ca0e, 0xbce5086492111aeb, 0x8cbccc096f5088cc, 0xd1b71758e219652c, 0x9c40000000000000,
    0xe8d4a51000000000, 0xad78ebc5ac620000, 0x813f3978f8940984, 0xc097ce7bc90715b3, 0x8f7e32ce7bea5c70,
    0xd5d238a4abe98068, 0x9f4f2726179a2245, 0xed63a231d4c4fb27, 0xb0de65388cc8ada8, 0x83c7088e1aab65db,
    0xc45d1df942711d9a, 0x924d692ca61be758, 0xda01ee641a708dea, 0xa26da3999aef774a, 0xf209787bb47d6b85,
    0xb454e4a179dd1877, 0x865b86925b9bc5c2, 0xc83553c5c8965d3d, 0x952ab45cfa97a0b3, 0xde469fbd99a05fe3,
    0xa59bc234db398c25, 0xf6c69a72a3989f5c, 0xb7dcbf5354e9bece, 0x88fcf317f22241e2, 0xcc20ce9bd35c78a5,
    0x98165af37b2153df, 0xe2a0b5dc971f303a, 0xa8d9d1535ce3b396, 0xfb9b7cd9a4a7443c, 0xbb764c4ca7a44410,
    0x8bab8eefb6409c1a, 0xd01fef10a657842c, 0x9b10a4e5e9913129, 0xe7109bfba19c0c9d, 0xac2820d9623bf429,
    0x80444b5e7aa7cf85, 0xbf21e44003acdd2d, 0x8e679c2f5e44ff8f, 0xd433179d9c8cb841, 0x9e19db92b4e31ba9,
    0xeb96bf6ebadf77d9, 0xaf87023b9bf0ee6b,
};

constexpr int PowerOf(size_t index) { return kFirstPower + static_cast<int>(index) * kPowerStep; }

// Returns the binary exponent that belongs to kPowers[index]: floor(log2(10^power)) - 63. The formula is exact for
// these powers.
constexpr int ExponentOf(size_t index) { return ((PowerOf(index) * 217706) >> 16) - 63; }

// Returns the index in kPowers of the power of ten by which ScaledInterval multiplies a number with a 64-bit fraction
// and the binary exponent `exponent`. The product has an integral part of 4 to 32 bits. Two neighbouring powers may
// qualify. The choice can affect the last digit, so the search starts where Redis starts.
size_t PowerIndexFor(int exponent) {
  constexpr int kLowest = -60;
  constexpr int kHighest = -32;
  constexpr double kLog10Of2 = 0.30102999566398114;
  const int power = static_cast<int>(-(exponent + static_cast<int>(kPowers.size())) * kLog10Of2);
  auto index = static_cast<size_t>((power - kFirstPower) / kPowerStep);
  while (exponent + ExponentOf(index) + 64 < kLowest) index++;
  while (exponent + ExponentOf(index) + 64 > kHighest) index--;
  return index;
}

// The interval of numbers that read back as the value, scaled by a power of ten. `low`, `value` and `high` have the
// same exponent.
struct Interval {
  Scaled low;
  Scaled value;
  Scaled high;
  int scale;  // value = scaled value * 10^scale
};

Interval ScaledInterval(double number) {
  const Scaled exact = Split(number);
  const Scaled high = Scaled{2 * exact.fraction + 1, exact.exponent - 1}.Normalized();
  // The next double below a power of two is half as far away as the next one above it.
  const int closer = exact.fraction == kHiddenBit ? 2 : 1;
  const Scaled low = Scaled{(exact.fraction << closer) - 1, exact.exponent - closer};
  const Scaled aligned_low{low.fraction << (low.exponent - high.exponent), high.exponent};
  const size_t index = PowerIndexFor(high.exponent);
  const Scaled power{kPowers[index], ExponentOf(index)};
  Interval interval{Multiply(aligned_low, power), Multiply(exact.Normalized(), power), Multiply(high, power),
                    -PowerOf(index)};
  // Each product may be off by one in the last bit, so the interval is narrowed on both sides.
  interval.low.fraction++;
  interval.high.fraction--;
  return interval;
}

// Writes the decimal digits of the upper end of an Interval, and stops as soon as the number that they form is within
// the interval.
class DigitWriter {
 public:
  explicit DigitWriter(const Interval& interval)
      : interval_(interval),
        shift_(-interval.high.exponent),
        width_(interval.high.fraction - interval.low.fraction),
        above_value_(interval.high.fraction - interval.value.fraction) {}

  Decimal Write() { return WriteIntegral() ? decimal_ : WriteFractional(); }

 private:
  // Writes the digits of the integral part of interval_.high. Stops and returns true as soon as the digits so far
  // identify the value. Returns false if digits of the fraction are also necessary.
  bool WriteIntegral() {
    auto integral = static_cast<uint32_t>(interval_.high.fraction >> shift_);
    const uint64_t fraction = interval_.high.fraction & (One() - 1);
    uint32_t divisor = 1;
    int digits_left = 0;
    for (uint32_t rest = integral; rest >= 10; rest /= 10) {
      divisor *= 10;
      digits_left++;
    }
    for (; divisor > 0; divisor /= 10, digits_left--) {
      Append(integral / divisor);
      integral %= divisor;
      const uint64_t rest = (uint64_t{integral} << shift_) + fraction;
      if (rest <= width_) {
        Finish(digits_left, Distance{rest, uint64_t{divisor} << shift_, width_, above_value_});
        return true;
      }
    }
    return false;
  }

  Decimal WriteFractional() {
    uint64_t rest = interval_.high.fraction & (One() - 1);
    uint64_t width = width_;
    uint64_t unit = 1;
    int digits_left = 0;
    do {
      rest *= 10;
      width *= 10;
      unit *= 10;
      digits_left--;
      Append(static_cast<uint32_t>(rest >> shift_));
      rest &= One() - 1;
    } while (rest >= width);
    Finish(digits_left, Distance{rest, One(), width, above_value_ * unit});
    return decimal_;
  }

  // Distances below the upper end of the interval. All numbers of the interval read back as the value.
  struct Distance {
    uint64_t written;  // to the number that the digits so far form
    uint64_t step;     // how much the distance grows when the last digit is decremented
    uint64_t limit;    // to the lower end
    uint64_t target;   // to the value itself
  };

  // Decrements the last digit while this brings the number closer to the value, and while the number stays in the
  // interval of the numbers that read back as the value.
  void Finish(int digits_left, Distance at) {
    while (at.written < at.target && at.limit - at.written >= at.step && StepIsCloser(at)) {
      decimal_.digits[decimal_.size - 1]--;
      at.written += at.step;
    }
    decimal_.scale = interval_.scale + digits_left;
  }

  static bool StepIsCloser(const Distance& at) {
    const uint64_t next = at.written + at.step;
    return next < at.target || at.target - at.written > next - at.target;
  }

  uint64_t One() const { return uint64_t{1} << shift_; }
  void Append(uint32_t digit) { decimal_.digits[decimal_.size++] = static_cast<char>('0' + digit); }

  const Interval& interval_;
  const int shift_;
  const uint64_t width_;
  const uint64_t above_value_;
  Decimal decimal_{};
};

}  // namespace

Decimal ShortDecimal(double value) {
  const Interval interval = ScaledInterval(value);
  return DigitWriter(interval).Write();
}

}  // namespace respite
