internal import ArgumentParser

/// The stage of a new plugin.
enum PluginStage: String, CaseIterable, ExpressibleByArgument {
  case graphql, http, cache, parsing

  /// The name of the stage with its article.
  var title: String {
    switch self {
    case .graphql: "a GraphQL stage"
    case .http: "an HTTP stage"
    case .cache: "a cache stage"
    case .parsing: "a parser"
    }
  }
}
