internal import CTestHost

/// Time in which each look at a clock is seconds after the one before, so that every call of a plugin is slow.
struct WarpedTime {
  private let stage: StageHooks

  init(_ stage: StageHooks) { self.stage = stage }

  /// Runs work while the clocks of the plugin and of the host pass quickly.
  func run(_ work: () -> Void) {
    if PluginWorker.current == nil, let code = unsafe stage.code { unsafe CTestHost_watchClocks(code) }
    CTestHost_warpClocks(1)
    defer { CTestHost_warpClocks(0) }
    work()
  }
}
