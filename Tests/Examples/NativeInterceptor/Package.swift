// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "native-interceptor",
  dependencies: [.package(name: "carabiner", path: "../../..")],
  targets: [
    .executableTarget(
      name: "NativeInterceptor",
      dependencies: [
        .product(name: "Carabiner", package: "carabiner"),
        .product(name: "CarabinerHost", package: "carabiner"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
