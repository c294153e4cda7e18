internal import CarabinerBridge

/// One call with very many results. The test host keeps none of them.
struct EndlessTrial {
  private let trial: InterceptorTrial
  private let stage: StageHooks
  private let instance: TestHostInstance

  init(_ trial: InterceptorTrial, _ stage: StageHooks, _ instance: TestHostInstance) {
    self.trial = trial
    self.stage = stage
    self.instance = instance
  }

  /// Sends the exchange, and repeats one of its results or chunks.
  func run(_ exchange: Exchange, count: Int) {
    unsafe instance.forCall { memory in
      let traveller = unsafe ExchangeRunner(trial.testHost, stage, of: trial.interceptor.id, instance: memory)
      traveller.settings.repetitions = count
      traveller.settings.keepsSteps = false
      _ = traveller.travel(exchange)
    }
  }
}
