extension Duration {
  /// The duration in nanoseconds, at most `UInt64.max`.
  var inNanoseconds: UInt64 {
    let (whole, isTooLong) = UInt64(clamping: components.seconds).multipliedReportingOverflow(by: 1_000_000_000)
    guard !isTooLong else { return .max }
    let (sum, isOver) = whole.addingReportingOverflow(UInt64(clamping: components.attoseconds / 1_000_000_000))
    return isOver ? .max : sum
  }
}
