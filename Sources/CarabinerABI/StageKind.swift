/// The four kinds of stages, in the order of the lists of a manifest.
public enum StageKind: String, CaseIterable, Sendable {
  case graphQL = "graphql"
  case cache
  case http
  case parsing
}
