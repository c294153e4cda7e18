/// Whether a condition becomes true within a limit that only a failing test reaches. An error counts as false.
public func eventually(within limit: Duration = .seconds(120), _ condition: () async throws -> Bool) async -> Bool {
  let end = ContinuousClock.now + limit
  while !Task.isCancelled {
    // Checked once more after the end, because the sleep may have been long.
    let isOver = ContinuousClock.now >= end
    if (try? await condition()) == true { return true }
    if isOver { return false }
    try? await Task.sleep(for: .milliseconds(10))
  }
  return false
}
