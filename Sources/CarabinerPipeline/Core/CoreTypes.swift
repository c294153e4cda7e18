public import Carabiner
public import CarabinerWire

// Public functions of users have `Operation.Data` in their types, so the protocol itself must be visible to them.
@_exported public import protocol Carabiner.GraphQLOperation

// Types that this generation shares with the core, so that code of it imports one module.

public typealias GraphQLOperationType = Carabiner.GraphQLOperationType
public typealias GraphQLQuery = Carabiner.GraphQLQuery
public typealias GraphQLMutation = Carabiner.GraphQLMutation
public typealias GraphQLSubscription = Carabiner.GraphQLSubscription
public typealias IdentifiedOperation = Carabiner.IdentifiedOperation
public typealias GraphQLError = Carabiner.GraphQLError
public typealias GraphQLEnum = Carabiner.GraphQLEnum
public typealias URLRequest = Carabiner.URLRequest
public typealias HTTPURLResponse = Carabiner.HTTPURLResponse
public typealias HTTPTransport = Carabiner.HTTPTransport
public typealias NormalizedCache = Carabiner.NormalizedCache
public typealias InMemoryNormalizedCache = Carabiner.InMemoryNormalizedCache
public typealias Record = Carabiner.Record
public typealias RecordSet = Carabiner.RecordSet
public typealias JSONValue = CarabinerWire.JSONValue
public typealias JSONObject = CarabinerWire.JSONObject
public typealias JSONNumber = CarabinerWire.JSONNumber

/// The body of a request, before it is written as JSON.
public typealias JSONEncodableDictionary = CarabinerWire.JSONObject

/// The key of a record in a cache.
public typealias CacheKey = String
