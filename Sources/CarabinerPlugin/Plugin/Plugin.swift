/// A plugin written in Swift. The type conforms to the protocols of its stages and hooks.
///
/// One instance serves all calls of a manifest entry, from several threads at once.
///
///     struct Hello: GraphQL.Stage {
///       static let identity = PluginIdentity(id: "org.example.hello", version: "1.0.0")
///       static let graphQL = StageParts(mutates: .headers)
///
///       init(configuration: PluginConfiguration, host: PluginHost) {}
///
///       func onRequest(_ call: GraphQL.Call, _ state: inout NoState) throws -> Verdict {
///         try call.setHeader("X-Hello", to: "world")
///         return .continue
///       }
///     }
///
///     @c(crb_entry_v1) public func entry(_ host: UnsafePointer<crb_host>?) -> UnsafePointer<crb_plugin>? {
///       unsafe PluginExport.table(for: Hello.self, host: host)
///     }
///
/// | Stage           | First hook, mandatory | Further hooks, a protocol each                         |
/// |-----------------|-----------------------|--------------------------------------------------------|
/// | `GraphQL.Stage` | `onRequest`           | `OnResult`, `OnError`, `OnEnd`, `OnCancel`             |
/// | `HTTP.Stage`    | `onRequest`           | `OnHead`, `OnChunk`, `OnError`, `OnEnd`, `OnCancel`    |
/// | `Cache.Stage`   | `onRead`              | `OnWrite`, `OnCancel`                                  |
/// | `Parser.Stage`  | `onHead`              | `OnChunk`, `OnError`, `OnEnd`, `OnCancel`              |
///
/// If a type does not conform to a hook's protocol, the slot is NULL and the host does not call the hook. An error thrown by a
/// hook fails the call with its description. A hook that must wait returns ``Verdict/later(_:)``.
///
/// ``Handover`` passes state to the next instance at a reload. `carabiner conform` runs the tests of ``SelfTesting``.
public protocol Plugin: Sendable {
  /// The plugin's identity.
  static var identity: PluginIdentity { get }

  /// Creates an instance.
  ///
  /// - Throws: Any error. Its description is shown to the operator.
  init(configuration: PluginConfiguration, host: PluginHost) throws
}
