// Looks at the first letter of an error's text, and traps when there is none.
// STATUS: CRASH
public import CCarabiner
internal import CarabinerPlugin

struct Bad: GraphQL.Stage, GraphQL.OnError {
  static let identity = PluginIdentity(id: "org.carabiner.test.bad", version: "1.0.0")

  init(configuration: PluginConfiguration, host: PluginHost) {}

  func onRequest(_ call: GraphQL.Call, _ state: inout NoState) -> Verdict { .continue }

  func onError(_ call: GraphQL.Call, _ error: borrowing ErrorEvent, _ state: inout NoState) -> Verdict {
    Array(error.message.utf8)[0] == UInt8(ascii: "#") ? .drop : .continue
  }
}

@c(crb_entry_v1)
public func entry(_ host: UnsafePointer<crb_host>?) -> UnsafePointer<crb_plugin>? {
  unsafe PluginExport.table(for: Bad.self, host: host)
}
