extension Duration {
  /// The longest time that clocks are asked for in seconds: about thirty years.
  private static let longestTime = 1e9

  /// A number of seconds as a duration: 0 for less than 0 and for no number, and at most thirty years. Larger numbers, infinity for example,
  /// have no duration.
  package static func bounded(seconds: Double) -> Duration {
    .seconds(seconds > 0 ? min(seconds, longestTime) : 0)
  }
}
