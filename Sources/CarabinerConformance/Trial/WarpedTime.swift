internal import CTestHost

/// Clocks that advance by seconds with each reading, so that every call of a plugin appears slow.
struct WarpedTime {
  private let stage: StageHooks

  init(_ stage: StageHooks) { self.stage = stage }

  /// Runs work with such clocks for the plugin and the host.
  func run(_ work: () -> Void) {
    if PluginWorker.current == nil, let code = unsafe stage.code { unsafe CTestHost_watchClocks(code) }
    CTestHost_warpClocks(1)
    defer { CTestHost_warpClocks(0) }
    work()
  }
}
