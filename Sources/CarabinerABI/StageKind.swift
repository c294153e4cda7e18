/// The four kinds of stages a plugin may have.
public enum StageKind: String, CaseIterable, Sendable {
  case graphQL = "graphql"
  case http
  case cache
  case parsing
}
