public import CCarabiner
internal import CarabinerPlugin

/// Waits in every hook for a timer or a request. The kit must finish the hook when the call is cancelled.
struct Waiting: GraphQL.Stage, GraphQL.OnResult, GraphQL.OnError, GraphQL.OnEnd {
  static let identity = PluginIdentity(id: "org.carabiner.test.waiting", version: "1.0.0")

  let host: PluginHost

  init(configuration: PluginConfiguration, host: PluginHost) { self.host = host }

  private var aMoment: Verdict {
    .later {
      try await host.sleep(for: .milliseconds(1))
      return .continue
    }
  }

  func onRequest(_ call: GraphQL.Call, _ state: inout NoState) -> Verdict { aMoment }

  func onResult(_ call: GraphQL.Call, _ result: borrowing ResultEvent, _ state: inout NoState) -> Verdict {
    .later {
      _ = try await host.fetch("http://auth.example/")
      return .continue
    }
  }

  func onError(_ call: GraphQL.Call, _ error: borrowing ErrorEvent, _ state: inout NoState) -> Verdict { aMoment }

  func onEnd(_ call: GraphQL.Call, _ state: inout NoState) -> Verdict { aMoment }
}

@c(crb_entry_v1)
public func entry(_ host: UnsafePointer<crb_host>?) -> UnsafePointer<crb_plugin>? {
  unsafe PluginExport.table(for: Waiting.self, host: host)
}
