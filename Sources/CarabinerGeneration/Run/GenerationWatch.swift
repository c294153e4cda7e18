/// Runs the generator after each change of its inputs.
///
/// It compares times and sizes at intervals. This works on every file system, and for files that are renamed as well as overwritten.
package struct GenerationWatch: Sendable {
  /// The interval of looks. A change is used when two looks in a row find the same state, so half-written files are rare.
  package static let interval = Duration.milliseconds(500)

  private let run: GenerationRun
  private let interval: Duration

  package init(_ run: GenerationRun, interval: Duration = Self.interval) {
    self.run = run
    self.interval = interval
  }

  /// Calls `generate` at once and after each change, until the task is cancelled.
  package func callAsFunction(_ generate: @Sendable () -> Void) async {
    var used = run.state
    var last = used
    generate()
    while (try? await Task.sleep(for: interval)) != nil {
      let now = run.state
      if now != used, now == last {
        used = now
        generate()
      }
      last = now
    }
  }
}
