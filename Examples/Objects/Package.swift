// swift-tools-version: 6.3
import PackageDescription

// Apple's own framework where there is one.
let whereAppleHasNone: TargetDependencyCondition? = .when(platforms: [.linux, .android])
let cloudKit: Target.Dependency = .product(
    name: "CloudKit",
    package: "swift-cloudkit",
    condition: whereAppleHasNone
)
let testing: Target.Dependency = .product(
    name: "CloudKitTesting",
    package: "swift-cloudkit",
    condition: whereAppleHasNone
)
let coreData: Target.Dependency = .product(name: "CloudKitCoreData", package: "swift-cloudkit")

let package = Package(
    name: "Objects",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "swift-cloudkit", path: "../..")
    ],
    targets: [
        // The objects of an app with Core Data, without a database.
        .target(name: "AppObjects", dependencies: [cloudKit, coreData]),
        // The command line around it.
        .executableTarget(name: "objects", dependencies: ["AppObjects", cloudKit, coreData]),
        .testTarget(
            name: "AppObjectsTests",
            dependencies: ["AppObjects", cloudKit, coreData, testing]
        ),
    ],
    swiftLanguageModes: [.v6]
)
