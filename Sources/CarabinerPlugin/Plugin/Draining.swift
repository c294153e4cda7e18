/// A plugin that frees resources as soon as no new call can start, for example connections that only new calls use.
public protocol Draining: Plugin {
  /// Called once for each instance, before the instance is released. Calls that are running then still finish. It is not called for
  /// ``ThreadClass/perCall``.
  func drain()
}
