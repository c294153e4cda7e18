import Foundation

/// The table for a person.
enum SimulationTable {
  private static let columns: [(title: String, width: Int)] = [
    ("plugin", -14), ("faults", -7), ("nodes", 6), ("ended", -11), ("after s", 9), ("all s", 9), ("exposed", 8), ("at once", 8),
    ("ended", 6), ("lost", 6), ("reads/s", 8), ("keys/s", 10), ("txn/s", 7), ("events/s", 9),
  ]

  static var head: String { text(columns.map(\.title)) }

  static func line(_ row: SimulationRow) -> String {
    let endings =
      row.endings.count == 1
      ? row.endings.keys.joined()
      : row.endings.sorted { $0.key < $1.key }
        .map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    return text([
      row.plugin, row.hasFaults ? "many" : "none", "\(row.nodes)", endings, time(row.decided), time(row.followed),
      "\(row.exposed)", "\(row.exposedAtOnce)", "\(row.processesEnded)", "\(row.transactionsLost)", "\(row.peakReads)",
      "\(row.peakKeysRead)", "\(row.peakTransactions)", "\(row.peakEvents)",
    ])
  }

  private static func time(_ seconds: Double?) -> String { seconds.map { String(format: "%.1f", $0) } ?? "-" }

  private static func text(_ cells: [String]) -> String {
    zip(cells, columns).map { cell, column in
      let space = String(repeating: " ", count: max(0, abs(column.width) - cell.count))
      return column.width < 0 ? cell + space : space + cell
    }.joined(separator: " ")
  }
}
