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
  /// Which threads the host may use for the hooks of one instance.
  public var threads: ThreadClass
  /// For people; nil if there is none.
  public var name: StaticString?
  /// For people; nil if there is none.
  public var vendor: StaticString?
  /// Of the documentation; nil if there is none.
  public var url: StaticString?

  /// An identity of these parts.
  public init(
    id: StaticString, version: StaticString, configurationSchema: StaticString? = nil, threads: ThreadClass = .concurrent,
    name: StaticString? = nil, vendor: StaticString? = nil, url: StaticString? = nil
  ) {
    self.id = id
    self.version = version
    self.configurationSchema = configurationSchema
    self.threads = threads
    self.name = name
    self.vendor = vendor
    self.url = url
  }
}

/// Which threads the host may use for the hooks of one instance.
public enum ThreadClass: UInt32, Sendable {
  /// A fresh instance for each call.
  case perCall = 1
  /// The host runs one hook of the instance at a time.
  case serial
  /// Hooks of different calls overlap.
  case concurrent
}

/// What kind of error it is.
public struct ErrorFlags: OptionSet, Sendable {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// The same may work the next time.
  public static let retryable = ErrorFlags(rawValue: 1 << 0)
  /// Something took too long.
  public static let timeout = ErrorFlags(rawValue: 1 << 1)
  /// The call was cancelled.
  public static let cancelled = ErrorFlags(rawValue: 1 << 2)
  /// The network failed.
  public static let transport = ErrorFlags(rawValue: 1 << 3)
  /// The server answered with a status that is an error.
  public static let httpStatus = ErrorFlags(rawValue: 1 << 4)
  /// The response could not be parsed.
  public static let parse = ErrorFlags(rawValue: 1 << 5)
  /// The cache or the store failed.
  public static let cache = ErrorFlags(rawValue: 1 << 6)
  /// The GraphQL server refused the operation.
  public static let graphQL = ErrorFlags(rawValue: 1 << 7)
  /// A limit was reached.
  public static let limit = ErrorFlags(rawValue: 1 << 8)
  /// A plugin broke a rule of `carabiner.h`.
  public static let pluginFault = ErrorFlags(rawValue: 1 << 9)
}

/// Something a plugin throws with a message for people.
public struct PluginFailure: Error, CustomStringConvertible {
  public let description: String
  /// Yours to define; of what the host refused, its status.
  public let code: Int32
  /// What kind of error it is.
  public let flags: ErrorFlags
  /// Detail for machines, a JSON text; nil if there is none.
  public let detail: String?
  /// 400 to 599: what a gateway answers its client with; 0 leaves that to the gateway.
  public let httpStatus: Int
  /// When a gateway's client may ask again; zero if nobody knows.
  public let retryAfter: Duration

  /// A failure that says this.
  public init(
    _ description: String, code: Int32 = 0, flags: ErrorFlags = [], httpStatus: Int = 0, retryAfter: Duration = .zero,
    detail: String? = nil
  ) {
    self.description = description
    self.code = code
    self.flags = flags
    self.detail = detail
    self.httpStatus = httpStatus
    self.retryAfter = retryAfter
  }
}
