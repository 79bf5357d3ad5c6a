// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "Contacts",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "swift-cloudkit", path: "../..")],
    targets: [
        // The app: contacts in a JSON file, kept in step by CKSyncEngine.
        .target(
            name: "ContactBook",
            dependencies: [.product(name: "CloudKit", package: "swift-cloudkit")]
        ),
        // The command line around it.
        .executableTarget(name: "contacts", dependencies: ["ContactBook"]),
        .testTarget(
            name: "ContactBookTests",
            dependencies: [
                "ContactBook", "contacts",
                .product(name: "CloudKitServer", package: "swift-cloudkit"),
                .product(name: "CloudKitTesting", package: "swift-cloudkit"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
