/// The calls of plugins in this process.
package enum PluginCalls {
  private static let interval = Duration.milliseconds(1)

  /// Waits until no call is under way, so that plugins have seen the end of each one.
  ///
  /// A call may outlive the result of its operation for a moment, on the thread that read the response.
  ///
  /// - Returns: False if some have not ended within the limit.
  @discardableResult
  package static func haveEnded(within limit: Duration) async -> Bool {
    let end = ContinuousClock.now + limit
    while CallTable.shared.underWay > 0 {
      guard ContinuousClock.now < end, (try? await Task.sleep(for: interval)) != nil else { return false }
    }
    return true
  }
}
