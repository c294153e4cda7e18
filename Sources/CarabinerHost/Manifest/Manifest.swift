package import Carabiner
package import CarabinerWire

/// What a host runs: the plugins, and in which order which stages stand.
package struct Manifest: Sendable {
  /// Limits and timeouts for the whole host.
  package struct Settings: Sendable {
    package var staging = StagedCopy.Mode.directory
    package var timeout: Duration?
    package var connectTimeout = Duration.seconds(10)
    package var maximumHeadBytes = 256 * 1024
    package var maximumBodyBytes = 64 * 1024 * 1024
    package var maximumAttempts = 10
    package var pluginRetries = 3
    package var cancelGrace = Duration.seconds(1)
    package var certificateAuthorityFile: String?
    package var storeRecords = 10_000
  }

  /// One entry of `plugins`.
  package struct Plugin: Sendable {
    package enum Source: Sendable {
      case file(String, pin: String?)
      case ffi(JSONValue)
    }

    package var name: String
    package var source: Source
    package var interceptor: String?
    package var configuration: JSONValue = .object([:])
    package var grants: Set<String> = []
    package var skipsOnFault = false
    package var timeout: Duration?
    package var isMandatory = false
    package var pointer: JSONPointer
  }

  /// A stage in a list.
  package struct Entry: Sendable, Hashable {
    package var name: String
    package var before: [String] = []
    package var after: [String] = []
  }

  /// The lists of a chain; nil leaves a list to the defaults.
  package struct Lists: Sendable, Hashable {
    package var graphql: [Entry]?
    package var cache: [Entry]?
    package var http: [Entry]?
    package var parsing: [Entry]?

    package subscript(kind: StageList) -> [Entry]? {
      get {
        switch kind {
        case .graphql: graphql
        case .cache: cache
        case .http: http
        case .parsing: parsing
        }
      }
      set {
        switch kind {
        case .graphql: graphql = newValue
        case .cache: cache = newValue
        case .http: http = newValue
        case .parsing: parsing = newValue
        }
      }
    }
  }

  /// Other lists for some operations.
  package struct Rule: Sendable {
    package var operations: [Glob] = []
    package var types: Set<GraphQLOperationType> = []
    package var lists: Lists

    package func matches(_ name: String?, _ type: GraphQLOperationType) -> Bool {
      (types.isEmpty || types.contains(type))
        && (operations.isEmpty || operations.contains { $0.matches(name ?? "") })
    }
  }

  /// The file it came from.
  package var path = ""
  package var endpoint: String?
  package var headers = HTTPHeaders()
  package var settings = Settings()
  package var plugins: [Plugin] = []
  package var maxRetry = MaxRetryInterceptor.Configuration()
  package var persistedQueries = false
  package var lists = Lists()
  package var rules: [Rule] = []
  /// What is odd but does no harm.
  package var warnings: [ManifestProblem] = []

  /// A manifest that says nothing: the built-in chain.
  package init() {}
}

/// The four lists of a chain.
package enum StageList: String, Sendable, CaseIterable {
  case graphql
  case cache
  case http
  case parsing

  /// The built-in stages such a list may name.
  package var builtIns: [String] {
    switch self {
    case .graphql: ["max-retry", "persisted-queries"]
    case .cache: ["store"]
    case .http: ["response-code"]
    case .parsing: ["json"]
    }
  }
}

/// A pattern of names: `*` stands for any text, `?` for one character.
package struct Glob: Sendable, Hashable {
  private let pattern: [Character]

  package init(_ pattern: String) { self.pattern = Array(pattern) }

  /// Whether a name fits; linear but for one way back to the last star.
  package func matches(_ name: String) -> Bool {
    let name = Array(name)
    var position = 0
    var next = 0
    var star: (pattern: Int, name: Int)?
    while position < name.count {
      if next < pattern.count, pattern[next] == "*" {
        star = (next, position)
        next += 1
      } else if next < pattern.count, pattern[next] == "?" || pattern[next] == name[position] {
        next += 1
        position += 1
      } else if let last = star {
        star = (last.pattern, last.name + 1)
        next = last.pattern + 1
        position = last.name + 1
      } else {
        return false
      }
    }
    return pattern[next...].allSatisfy { $0 == "*" }
  }
}
