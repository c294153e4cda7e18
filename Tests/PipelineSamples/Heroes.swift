import CarabinerPipeline

/// The hero of an episode.
public struct HeroQuery: GraphQLQuery {
  public struct Data: Codable, Equatable, Sendable {
    public struct Hero: Codable, Equatable, Sendable {
      public let id: String
      public let name: String
    }

    public let hero: Hero
  }

  public var operationName: String? { "Hero" }
  public var document: String { "query Hero { hero { __typename id name } }" }

  public init() {}
}
