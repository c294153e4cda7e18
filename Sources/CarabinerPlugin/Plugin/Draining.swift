/// For plugins that end something as soon as no new calls can start, for example connections that only new calls need.
public protocol Draining: Plugin {
  /// Called once for each instance before it is released; running calls finish. For ``ThreadClass/perCall`` it is not called.
  func drain()
}
