/// How Swift code is generated.
public struct GeneratorConfiguration: Sendable, Hashable {
  /// The code that may use the generated declarations.
  public enum Access: String, Sendable, Hashable, CaseIterable {
    /// The module.
    case `internal`
    /// The package.
    case `package`
    /// Every module.
    case `public`
  }

  /// The Swift type of a custom scalar.
  public struct Scalar: Sendable, Hashable {
    /// The name of the type. It is `Decodable` and a `GraphQLValue`.
    public var type: String
    /// The module of the type; nil for the module of the generated code, and for the standard library.
    public var module: String?
    /// The name of the `ScalarCoding` that reads and writes it, such as `ISO8601Date`; nil if the type does so itself.
    public var coding: String?

    /// Creates a type of a custom scalar.
    public init(type: String, module: String? = nil, coding: String? = nil) {
      self.type = type
      self.module = module
      self.coding = coding
    }
  }

  /// The code that may use the generated declarations.
  public var access = Access.internal
  /// The types of custom scalars by name. The others are `String`.
  public var scalars: [String: Scalar] = [:]
  /// Swift names by schema coordinate (`Book.title`, `Genre.NOVEL`, `Genre`), by variable (`BookQuery.$id`), or by the name of an operation or
  /// a fragment.
  public var renames: [String: String] = [:]
  /// The module of the client library.
  public var clientModule = "Carabiner"
  /// The maximum number of selections that are read while fragments are merged, for all documents.
  public var maximumSteps = 20_000_000

  /// Creates a configuration with its defaults.
  public init() {}
}
