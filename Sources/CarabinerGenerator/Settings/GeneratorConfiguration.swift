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
    /// The name of the type. It is a `GraphQLValue` and a `ResponseValue`.
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

  /// A file with the documents of all operations, for a server that accepts listed ones only.
  public struct PersistedDocuments: Sendable, Hashable {
    /// The form of the file. The gateway reads each of them.
    public enum Format: String, Sendable, Hashable, CaseIterable {
      /// Apollo's persisted query manifest, version 1.
      case apollo
      /// A JSON object of texts by their SHA-256.
      case textsByID
    }

    /// The name of the file.
    public var file: String
    /// The form of the file.
    public var format: Format

    /// Creates settings of a file.
    public init(file: String, format: Format = .apollo) {
      self.file = file
      self.format = format
    }
  }

  /// A file with the object types of mocks, for tests.
  public struct Mocks: Sendable, Hashable {
    /// The name of the file, which ends in `.swift`.
    public var file: String
    /// The module of the other generated code; nil if it is the module of the file.
    public var module: String?

    /// Creates settings of a file.
    public init(file: String, module: String? = nil) {
      self.file = file
      self.module = module
    }
  }

  /// The code that may use the generated declarations.
  public var access = Access.internal
  /// The types of custom scalars by name. The others are `String`.
  public var scalars: [String: Scalar] = [:]
  /// Swift names by schema coordinate (`Book.title`, `Genre.NOVEL`, `Genre`), by variable (`Book.$id`), by mock (`Mock<Book>`), by the
  /// name of an operation, or by a fragment (`...Cover`).
  public var renames: [String: String] = [:]
  /// The module of the client library.
  public var clientModule = "Carabiner"
  /// The file with the documents of all operations; nil for none.
  public var persistedDocuments: PersistedDocuments?
  /// The file with the object types of mocks; nil for none.
  public var mocks: Mocks?
  /// The keys of scalars and renames that must name a part of the schema or of a document, with their places in the configuration.
  package var checkedKeys: [String: GeneratorProblem] = [:]
  /// The maximum number of selections that are read while fragments are merged, for all documents.
  public var maximumSteps = 20_000_000

  /// Creates a configuration with its defaults.
  public init() {}
}
