/// The store of the client that calls its transport.
///
/// It travels as a task-local, because the protocol of transports has no parameter for it.
enum ClientStore {
  /// The store of the client that is calling; nil for other callers of a transport.
  @TaskLocal static var current: ApolloStore?
}
