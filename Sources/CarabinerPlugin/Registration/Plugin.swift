/// A plugin written in Swift: a type with the stages it has and the hooks it wants.
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
/// A hook whose protocol a type does not conform to leaves its slot NULL, and the host does not call it. What a hook throws
/// fails the call with its description. A hook that has to wait returns ``Verdict/later(_:)``.
///
/// ``Handover`` keeps what an instance has learnt over a reload; the tests of ``SelfTesting`` are run by `carabiner conform`.
public protocol Plugin: Sendable {
  /// Who this plugin is.
  static var identity: PluginIdentity { get }

  /// Makes an instance.
  ///
  /// - Throws: Anything; its description is what the operator reads.
  init(configuration: PluginConfiguration, host: PluginHost) throws
}

/// Who a plugin is.
public struct PluginIdentity: Sendable {
  /// Reverse DNS; the same as in the ELF note.
  public var id: StaticString
  /// Semantic version; the same as in the ELF note.
  public var version: StaticString
  /// JSON Schema of the configuration; nil if there is none.
  public var configurationSchema: StaticString?

  /// An identity of these parts.
  public init(id: StaticString, version: StaticString, configurationSchema: StaticString? = nil) {
    self.id = id
    self.version = version
    self.configurationSchema = configurationSchema
  }
}

/// Something a plugin throws with a message for people.
public struct PluginFailure: Error, CustomStringConvertible {
  public let description: String
  /// Yours to define; of what the host refused, its status.
  public let code: Int32
  /// 400 to 599: what a gateway answers its client with; 0 leaves that to the gateway.
  public let httpStatus: Int
  /// When a gateway's client may ask again; zero if nobody knows.
  public let retryAfter: Duration

  /// A failure that says this.
  public init(_ description: String, code: Int32 = 0, httpStatus: Int = 0, retryAfter: Duration = .zero) {
    self.description = description
    self.code = code
    self.httpStatus = httpStatus
    self.retryAfter = retryAfter
  }
}
