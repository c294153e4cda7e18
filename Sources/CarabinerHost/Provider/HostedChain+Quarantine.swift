extension HostedChain {
  /// How many tokens of this process were revoked and not resumed yet: plugins may still read the memory of their calls.
  package static var quarantinedCalls: Int { Quarantine.shared.readerCount }

  /// How many bytes are kept for these plugins; calls are refused while there are more than `kept-memory`.
  package static var quarantinedBytes: Int { Quarantine.shared.bytes }
}
