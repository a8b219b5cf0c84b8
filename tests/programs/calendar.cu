// Days to dates and back with 64-bit division, names from strings in constant memory, and printf
// from the device.
#include "program.h"

namespace calendar {

struct Date {
  int year;
  signed char month, day;
};

__constant__ const char* const kNames[7] = {"Thursday", "Friday",  "Saturday", "Sunday",
                                            "Monday",   "Tuesday", "Wednesday"};

__device__ Date
civil(long long days) {  // from days since 1970-01-01; eras of 400 years start in March
  days += 719468;
  const long long era = (days >= 0 ? days : days - 146096) / 146097;
  const unsigned of_era = static_cast<unsigned>(days - era * 146097);
  const unsigned year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  const unsigned of_year = of_era - (365 * year + year / 4 - year / 100),
                 m = (5 * of_year + 2) / 153;
  const unsigned char day = of_year - (153 * m + 2) / 5 + 1, month = m < 10 ? m + 3 : m - 9;
  return {static_cast<int>(year + era * 400 + (month <= 2)), static_cast<signed char>(month),
          static_cast<signed char>(day)};
}

__global__ void dates(long long first, int step, int n, Date* out, char* initials, int mistake) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const long long days = first + (mistake == 1 ? i * step : static_cast<long long>(i) * step);
  const Date d = civil(days);
  out[i] = d;
  const int weekday = static_cast<int>(mistake == 2 ? days % 7 : (days % 7 + 7) % 7);
  initials[i] = kNames[weekday][0];
  if (i == n - 1)
    printf("day %lld is %s, %d-%02d-%02d\n", days, kNames[weekday], d.year, d.month, d.day);
}

PROGRAM(calendar, 2) {
  const int n = 300, step = 40000009;
  const long long first = -60 * 1000000ll;
  Buffer<Date> out(n);
  Buffer<char> initials(n);
  dates<<<divide_up(n, 64), 64>>>(first, step, n, out, initials, mistake);
  const std::vector<Date> got = out.host();
  const std::vector<char> letters = initials.host();
  int wrong = 0;
  for (int i = 0; i < n; ++i) {
    // The inverse, by counting leap years.
    const auto leaps = [](long long y) {
      return (y >= 0 ? y / 4 : -((3 - y) / 4)) - (y >= 0 ? y / 100 : -((99 - y) / 100)) +
             (y >= 0 ? y / 400 : -((399 - y) / 400));
    };
    const Date d = got[i];
    const int before[12] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    const long long y = d.year - 1;
    long long days = 365 * (y - 1969) + leaps(y) - leaps(1969) + before[d.month - 1] + d.day - 1;
    if (d.month > 2) days += leaps(d.year) - leaps(y);
    wrong += days != first + static_cast<long long>(i) * step;
    wrong += letters[i] != "TFSSMTW"[((days % 7) + 7) % 7];
  }
  return verdict(wrong == 0, "%d of %d wrong", wrong, 2 * n);
}

}  // namespace calendar
