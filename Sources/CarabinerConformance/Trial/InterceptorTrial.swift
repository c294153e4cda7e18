internal import CCarabiner
internal import CarabinerBridge
internal import CarabinerWire

/// The context of a check that runs an interceptor.
@safe struct InterceptorTrial: @unchecked Sendable {
  // Safe: values, tables of a library that is never unmapped, and a thread-safe test host.

  let notes: TrialNotes
  let interceptor: PluginInterceptor
  let host: UnsafePointer<crb_host>
  let configuration: String
  let options: TrialOptions
  let constants: PluginConstants
  let testHost = TestHost.current

  /// The plugin's file.
  var bytes: [UInt8] { constants.bytes }

  /// The words that the plugin may look for.
  var words: Vocabulary { constants.words }

  /// The stages it has.
  var stages: [StageHooks] { StageHooks.all(of: interceptor.table) }

  /// Makes an instance with the configuration of this trial.
  ///
  /// - Throws: ``TrialNotes/Skip`` if the plugin refuses; LC02 reports why.
  func instance(_ configuration: String? = nil) throws -> TestHostInstance {
    do {
      return try unsafe TestHostInstance(interceptor, host: host, configuration: configuration ?? self.configuration)
    } catch {
      var skip = TrialNotes.Skip("it cannot be created with \((configuration ?? self.configuration).prefix(200)): \(error)")
      // A refusal with another configuration, or of a host that fails on purpose, does not concern the rest of the test.
      skip.hasNoInstance = configuration == nil && testHost.state.withLock { $0.faults.isEmpty }
      throw skip
    }
  }

  /// Waits until all timers of the test host have fired, at most for this time.
  func settle(_ time: Duration) { _ = testHost.resumed.wait(time) { self.testHost.timers.count == 0 } }

  /// Sends exchanges through a stage of an instance.
  func travel(
    _ exchanges: [Exchange], _ stage: StageHooks, _ instance: TestHostInstance,
    _ settings: ExchangeRunner.Settings = ExchangeRunner.Settings()
  ) -> [ExchangeResult] {
    exchanges.map { exchange in
      unsafe instance.forCall { memory in
        let traveller = unsafe ExchangeRunner(testHost, stage, of: interceptor.id, instance: memory)
        traveller.settings = settings
        return traveller.travel(exchange)
      }
    }
  }

  /// Sends an exchange, whose results a cache may store, and then the same request without results.
  ///
  /// - Returns: The second passage. A cache answers it only with what it has stored.
  func writeAndRead(_ exchange: Exchange, _ stage: StageHooks, _ instance: TestHostInstance) -> ExchangeResult {
    _ = travel([exchange], stage, instance)
    var read = exchange
    read.name = "\(exchange.name), again"
    read.results = []
    return travel([read], stage, instance)[0]
  }

  /// Sends the usual exchanges through all stages of a new instance, and destroys it.
  func exercise(
    _ exchanges: [Exchange] = Exchange.usual, _ settings: ExchangeRunner.Settings = ExchangeRunner.Settings()
  ) throws {
    let instance = try instance()
    defer { instance.destroy() }
    for stage in stages { _ = travel(exchanges, stage, instance, settings) }
  }
}
