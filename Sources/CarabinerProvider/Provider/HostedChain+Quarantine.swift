internal import CarabinerBridge

extension HostedChain {
  /// The revoked tokens of this process that plugins have not resumed yet. Their plugins may still read the memory of the calls.
  package static var quarantinedCalls: Int { Quarantine.shared.readerCount }

  /// The bytes kept for these plugins. New calls are refused while they exceed `kept-memory`.
  package static var quarantinedBytes: Int { Quarantine.shared.bytes }
}
