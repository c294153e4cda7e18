// Keeps a closure in the state of a call that holds that state: neither is ever freed.
public import CCarabiner
internal import CarabinerPlugin
internal import Synchronization

final class Steps: CallState {
  private let next = Mutex<(@Sendable () -> Int)?>(nil)

  func plan() { next.withLock { $0 = { self.count } } }

  var count: Int { next.withLock { $0 == nil ? 0 : 1 } }
}

struct Bad: GraphQL.Stage {
  static let identity = PluginIdentity(id: "org.carabiner.test.bad", version: "1.0.0")

  init(configuration: PluginConfiguration, host: PluginHost) {}

  func onRequest(_ call: GraphQL.Call, _ steps: inout Steps) -> Verdict {
    steps.plan()
    return .continue
  }
}

@c(crb_entry_v1)
public func entry(_ host: UnsafePointer<crb_host>?) -> UnsafePointer<crb_plugin>? {
  unsafe PluginExport.table(for: Bad.self, host: host)
}
