public import FoundationEssentials

/// Identifies the writer of changes in a store, so that a subscriber recognises its own.
///
/// The store calls its subscribers in the task that made the change. Bind ``current`` around writes and requests, and compare it in
/// the subscriber. A watcher binds an origin of its own around each of its requests.
public struct PublishOrigin: Sendable, Hashable {
  /// The origin of the changes that this task makes; nil if none was set.
  @TaskLocal public static var current: PublishOrigin?

  /// The identifier. Origins with equal identifiers are equal.
  public let id: UUID

  /// An origin with an identifier; the default is a new one.
  public init(id: UUID = UUID()) { self.id = id }
}
