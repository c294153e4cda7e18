/// The four kinds of stages.
public enum StageKind: String, CaseIterable, Sendable {
  case graphQL = "graphql"
  case http
  case cache
  case parsing
}
