extension Duration {
  /// In nanoseconds; the largest number if there are more.
  var inNanoseconds: UInt64 {
    let (whole, isTooLong) = UInt64(clamping: components.seconds).multipliedReportingOverflow(by: 1_000_000_000)
    guard !isTooLong else { return .max }
    let (sum, isOver) = whole.addingReportingOverflow(UInt64(clamping: components.attoseconds / 1_000_000_000))
    return isOver ? .max : sum
  }
}
