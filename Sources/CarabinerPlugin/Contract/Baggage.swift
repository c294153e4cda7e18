internal import CCarabiner

/// An interned baggage key, made by ``PluginHost/key(_:)``.
public struct BaggageKey: Sendable, Hashable {
  let raw: crb_key
}

/// A baggage value.
public enum BaggageValue: Sendable, Hashable {
  case bool(Bool)
  case integer(Int64)
  case real(Double)
  case text(String)
  case bytes([UInt8])
  case json(String)
}

/// The stages that can see a baggage value.
public enum BaggageScope: UInt32, Sendable {
  /// Stages closer to the network. The value is removed on the way back.
  case inner
  /// All stages, in both directions, for the rest of the call.
  case call
}
