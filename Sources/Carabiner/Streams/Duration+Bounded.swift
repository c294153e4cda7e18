extension Duration {
  /// The longest duration that is passed to a clock, in seconds: about thirty years.
  private static let longestTime = 1e9

  /// A number of seconds as a duration. Negative numbers and NaN become 0. Numbers above thirty years become thirty years. A
  /// conversion of infinity would stop the program.
  package static func bounded(seconds: Double) -> Duration {
    .seconds(seconds > 0 ? min(seconds, longestTime) : 0)
  }
}
