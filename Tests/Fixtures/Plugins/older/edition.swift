public import CCarabiner
internal import CarabinerPlugin

/// Sends an extension with each request, and adds to the last text of each result.
final class Edition: Plugin {
  static let identity = PluginIdentity(id: "org.carabiner.test.edition", version: "1.0.0")

  init(configuration: PluginConfiguration, host: PluginHost) {}
}

extension Edition: GraphQL.Stage, GraphQL.OnResult {
  static var graphQL: StageParts { StageParts(needs: [.json], mutates: [.extensions, .json]) }

  func onRequest(_ call: GraphQL.Call, _ state: inout NoState) throws -> Verdict {
    try call.setExtensions(#"{"edition":"revised"}"#)
    return .continue
  }

  func onResult(_ call: GraphQL.Call, _ result: borrowing ResultEvent, _ state: inout NoState) throws -> Verdict {
    guard let json = result.json, json.hasSuffix("\"}}}") else { throw PluginFailure("the result does not end with a text") }
    return try call.replace(json.dropLast(4) + ", revised\"}}}")
  }
}

/// The only exported symbol of the contract. It must be public: otherwise a release build removes it.
@c(crb_entry_v1)
public func entry(_ host: UnsafePointer<crb_host>?) -> UnsafePointer<crb_plugin>? {
  unsafe PluginExport.table(for: Edition.self, host: host)
}
