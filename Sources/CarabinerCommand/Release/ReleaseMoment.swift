internal import ArgumentParser
internal import CarabinerRelease

/// When a statement expires: a time, or how long after it is issued.
enum ReleaseMoment: ExpressibleByArgument {
  case at(ReleaseTime)
  case after(seconds: Int)

  /// The longest time after the issue, in days: 100 years.
  private static let maximumDays = 36_500

  init?(argument: String) {
    if let time = ReleaseTime(argument.utf8) {
      self = .at(time)
      return
    }
    guard let number = Int(argument.dropLast()), argument.first != "+", number > 0 else { return nil }
    switch argument.last {
    case "d" where number <= Self.maximumDays: self = .after(seconds: number * 86_400)
    case "h" where number <= Self.maximumDays * 24: self = .after(seconds: number * 3600)
    default: return nil
    }
  }

  var defaultValueDescription: String {
    switch self {
    case .at(let time): time.description
    case .after(let seconds): seconds % 86_400 == 0 ? "\(seconds / 86_400)d" : "\(seconds / 3600)h"
    }
  }

  /// The expiry of a statement that is issued at this time.
  func time(from issued: ReleaseTime) -> ReleaseTime {
    switch self {
    case .at(let time): time
    case .after(let seconds): issued.adding(seconds: seconds)
    }
  }
}
