// Exports a C function of its own: one that is public is, whatever it is for.
public import CCarabiner
internal import CarabinerPlugin

struct Bad: GraphQL.Stage {
  static let identity = PluginIdentity(id: "org.carabiner.test.bad", version: "1.0.0")

  init(configuration: PluginConfiguration, host: PluginHost) {}

  func onRequest(_ call: GraphQL.Call, _ state: inout NoState) -> Verdict { .continue }
}

@c(org_carabiner_version)
public func version() -> Int32 { 1 }

@c(crb_entry_v1)
public func entry(_ host: UnsafePointer<crb_host>?) -> UnsafePointer<crb_plugin>? {
  unsafe PluginExport.table(for: Bad.self, host: host)
}
