// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "BookShelf",
  platforms: [.macOS(.v15)],
  dependencies: [.package(url: "https://github.com/apollographql/apollo-ios.git", from: "2.0.0")],
  targets: [
    .executableTarget(
      name: "BookShelf",
      dependencies: [.product(name: "Apollo", package: "apollo-ios")])
  ]
)
