internal import Carabiner
internal import CarabinerManifest
internal import Foundation

/// The tasks that check the endpoints of an upstream and look up their names. They end with the upstream.
struct UpstreamWatcher: Sendable, ~Copyable {
  let lookUp: NameLookup
  private(set) var headers = HTTPHeaders()
  private var tasks: [Task<Void, Never>] = []
  private var hasBegun = false

  init(lookUp: @escaping NameLookup) { self.lookUp = lookUp }

  deinit {
    for task in tasks { task.cancel() }
  }

  mutating func begin(for upstream: Upstream, _ headers: HTTPHeaders) {
    self.headers = headers
    guard !hasBegun else { return }
    hasBegun = true
    if let health = upstream.settings.health {
      tasks.append(
        Self.everyInterval(upstream, jitter: 0.1, health.interval) { await EndpointCheck(health).checkAll($0) })
    }
    let names = EndpointNames(upstream.endpoints, lookUp: lookUp)
    if let interval = upstream.settings.resolveInterval, !names.isEmpty, !Self.environmentNamesProxy {
      tasks.append(Self.everyInterval(upstream, jitter: 0, interval) { await names.lookUpAll($0) })
    }
  }

  /// Runs `body` at once and then at an interval, as long as the upstream exists.
  private static func everyInterval(
    _ upstream: Upstream, jitter: Double, _ interval: Duration, _ body: @escaping @Sendable (Upstream) async -> Void
  ) -> Task<Void, Never> {
    Task { [weak upstream] in
      while !Task.isCancelled {
        let next = ContinuousClock.now + interval * Double.random(in: 1 - jitter...1 + jitter)
        guard await run(body, upstream) else { return }
        try? await Task.sleep(until: next)
      }
    }
  }

  /// This is a function of its own, so that the upstream is not retained between two runs.
  private static func run(_ body: @Sendable (Upstream) async -> Void, _ upstream: Upstream?) async -> Bool {
    guard let upstream else { return false }
    await body(upstream)
    return true
  }

  /// Whether requests go to a proxy, which looks up names itself.
  private static var environmentNamesProxy: Bool {
    let environment = ProcessInfo.processInfo.environment
    return ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"].contains { environment[$0]?.isEmpty == false }
  }
}
