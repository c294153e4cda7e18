internal import ArgumentParser
internal import CarabinerFleet
internal import Foundation

/// The option for the name of a node.
struct NodeOptions: ParsableArguments {
  private static let variable = "CARABINER_NODE_ID"

  @Option(
    name: .long,
    help: ArgumentHelp(
      "With -m etcd://: the name of this node in its fleet, or $CARABINER_NODE_ID. Without it, the host name and the begin of the machine ID. Gateways on one machine need different ones.",
      valueName: "name"))
  var nodeId: String?

  /// The name; nil if none is given.
  ///
  /// - Throws: A usage error if the name is not valid.
  func name() throws -> NodeName? {
    let variable = ProcessInfo.processInfo.environment[Self.variable].flatMap { $0.isEmpty ? nil : $0 }
    guard let text = nodeId ?? variable else { return nil }
    guard let name = NodeName(text) else {
      throw usageError(
        "\(nodeId == nil ? Self.variable : "--node-id") takes \(NodeName.rule), not \(text.debugDescription)")
    }
    return name
  }
}
