internal import ArgumentParser

/// What a new plugin takes part in.
enum PluginStage: String, CaseIterable, ExpressibleByArgument {
  case graphql, http, cache, parsing

  /// The stage as people write it, with its article.
  var title: String {
    switch self {
    case .graphql: "a GraphQL stage"
    case .http: "an HTTP stage"
    case .cache: "a cache stage"
    case .parsing: "a parser"
    }
  }
}
