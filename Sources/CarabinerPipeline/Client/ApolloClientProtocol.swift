public import Carabiner
public import Dispatch
public import FoundationEssentials

/// The functions of a client.
public protocol ApolloClientProtocol: AnyObject {
  /// The store of the client.
  var store: ApolloStore { get }

  /// Removes everything from the store.
  func clearCache(callbackQueue: DispatchQueue, completion: ((Result<Void, any Error>) -> Void)?)

  /// Fetches a query.
  func fetch<Query: GraphQLQuery>(
    query: Query, cachePolicy: CachePolicy, contextIdentifier: UUID?, context: (any RequestContext)?, queue: DispatchQueue,
    resultHandler: GraphQLResultHandler<Query.Data>?
  ) -> any Cancellable

  /// Fetches a query and watches its result in the store.
  func watch<Query: GraphQLQuery>(
    query: Query, cachePolicy: CachePolicy, refetchOnFailedUpdates: Bool, context: (any RequestContext)?,
    callbackQueue: DispatchQueue, resultHandler: @escaping GraphQLResultHandler<Query.Data>
  ) -> GraphQLQueryWatcher<Query>

  /// Runs a mutation.
  func perform<Mutation: GraphQLMutation>(
    mutation: Mutation, publishResultToStore: Bool, contextIdentifier: UUID?, context: (any RequestContext)?,
    queue: DispatchQueue, resultHandler: GraphQLResultHandler<Mutation.Data>?
  ) -> any Cancellable

  /// Runs an operation whose variables include files.
  func upload<Operation: GraphQLOperation>(
    operation: Operation, files: [GraphQLFile], context: (any RequestContext)?, queue: DispatchQueue,
    resultHandler: GraphQLResultHandler<Operation.Data>?
  ) -> any Cancellable

  /// Subscribes.
  func subscribe<Subscription: GraphQLSubscription>(
    subscription: Subscription, context: (any RequestContext)?, queue: DispatchQueue,
    resultHandler: @escaping GraphQLResultHandler<Subscription.Data>
  ) -> any Cancellable
}
