/// The strongly connected components of a graph (Tarjan's algorithm), in linear time and without recursion.
package struct StronglyConnectedComponents {
  /// The components with a cycle: those of several nodes, and nodes that refer to themselves.
  package let cyclic: [[Int]]

  /// - Parameters:
  ///   - count: The number of nodes, which are the numbers from 0.
  ///   - neighbors: The nodes that a node refers to. It is called once for each node.
  package init(count: Int, neighbors: (Int) -> [Int]) {
    var cyclic: [[Int]] = []
    var numbers = [Int](repeating: 0, count: count)
    var lowest = [Int](repeating: 0, count: count)
    var isOpen = [Bool](repeating: false, count: count)
    var open: [Int] = []
    var path: [(node: Int, neighbors: [Int], next: Int)] = []
    var last = 0

    func enter(_ node: Int) {
      last += 1
      numbers[node] = last
      lowest[node] = last
      isOpen[node] = true
      open.append(node)
      path.append((node, neighbors(node), 0))
    }

    for root in 0..<count where numbers[root] == 0 {
      enter(root)
      while let step = path.last {
        let node = step.node
        if step.next < step.neighbors.count {
          let neighbor = step.neighbors[step.next]
          path[path.count - 1].next += 1
          if numbers[neighbor] == 0 {
            enter(neighbor)
          } else if isOpen[neighbor] {
            lowest[node] = min(lowest[node], numbers[neighbor])
          }
          continue
        }
        path.removeLast()
        if let parent = path.last { lowest[parent.node] = min(lowest[parent.node], lowest[node]) }
        guard lowest[node] == numbers[node] else { continue }
        var component: [Int] = []
        while let member = open.popLast() {
          isOpen[member] = false
          component.append(member)
          if member == node { break }
        }
        if component.count > 1 || step.neighbors.contains(node) { cyclic.append(component.sorted()) }
      }
    }
    self.cyclic = cyclic
  }
}
