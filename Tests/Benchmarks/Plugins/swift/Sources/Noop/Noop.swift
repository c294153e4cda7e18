public import CCarabiner
internal import CarabinerPlugin
internal import Note

/// The smallest possible stage on the Swift kit.
struct Noop: GraphQL.Stage, GraphQL.OnResult {
  static let identity = PluginIdentity(id: "org.carabiner.bench.noop.swift", version: "1.0.0")
  static let graphQL = StageParts()

  init(configuration: PluginConfiguration, host: PluginHost) throws {}

  func onRequest(_ call: GraphQL.Call, _ state: inout NoState) throws -> Verdict { .continue }

  func onResult(_ call: GraphQL.Call, _ result: borrowing ResultEvent, _ state: inout NoState) throws -> Verdict { .continue }
}

/// The only exported symbol of the contract. It must be public: otherwise a release build removes it.
@c(crb_entry_v1)
public func entry(_ host: UnsafePointer<crb_host>?) -> UnsafePointer<crb_plugin>? {
  noop_note_is_linked()
  return unsafe PluginExport.table(for: Noop.self, host: host)
}
