import CloudKit
import CloudKitCodable
import Foundation

struct Person: CustomCloudKitCodable, Equatable {
    var cloudKitSystemFields: Data?
    var cloudKitIdentifier: String
    var name: String
    var nickname: String?
    var age: Int
    var height: Double
    var isDeveloper: Bool
    var born: Date
    var website: URL
    var avatar: URL?
    var key: UUID
    var picture: Data?
    var tags: [String]
}

extension Person {
    static func rambo(_ identifier: String = "rambo") -> Person {
        Person(
            cloudKitIdentifier: identifier,
            name: "Rambo",
            nickname: "G",
            age: 26,
            height: 1.8,
            isDeveloper: true,
            born: Date(timeIntervalSinceReferenceDate: -1_000_000.5),
            website: URL(string: "https://example.com/a?b=c")!,
            key: UUID(uuidString: "9C2E7C7B-6F0B-4C0A-8C5B-0D8A2E0B7F10")!,
            picture: Data([1, 2, 3]),
            tags: ["x", "y"]
        )
    }
}

enum Size: String, CloudKitStringEnum, CaseIterable {
    case small, large
}

enum Level: Int, CloudKitIntEnum, CaseIterable {
    case low = 1
    case high = 9

    static var cloudKitFallbackCase: Level? { nil }
}

enum Shape: Codable, Equatable {
    case circle(radius: Double)
    case label(String, [Int])
    case nothing
}

enum Colour: String, Codable, CaseIterable {
    case red, green
}

struct Theme: Codable, Hashable {
    var name: String
    var shade: Int?
}

struct Tag: RawRepresentable, Codable, Hashable {
    var rawValue: String
}

struct Meters: Codable, Equatable {
    var value: Double

    init(_ value: Double) { self.value = value }

    init(from decoder: any Decoder) throws {
        value = try decoder.singleValueContainer().decode(Double.self)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

/// One property of every shape that `Codable` can take.
struct Everything: CloudKitModel, Equatable, Identifiable {
    var id = UUID(uuidString: "00000000-0000-0000-0000-0000000000AB")!
    var int8 = Int8.min
    var int16 = Int16.max
    var int32 = Int32.min
    var int64 = Int64.max
    var uint = UInt(7)
    var uint8 = UInt8.max
    var uint16 = UInt16.max
    var uint32 = UInt32.max
    var uint64 = UInt64(Int64.max)
    var float = Float(1.5)
    var price = Decimal(string: "12345678901234567890.123456789")!
    var page = URL(string: "https://example.com")!
    var pages = [URL(string: "https://example.com/1")!, URL(string: "https://example.com/2")!]
    var keys = [UUID(uuidString: "00000000-0000-0000-0000-0000000000CD")!]
    var colour = Colour.green
    var colours: [Colour] = [.red, .green]
    var size = Size.large
    var sizes: [Size] = [.small]
    var level = Level.high
    var shape = Shape.circle(radius: 2)
    var shapes: [Shape] = [.label("a", [1]), .nothing]
    var theme = Theme(name: "dark", shade: nil)
    var themes = [Theme(name: "a", shade: 1)]
    var noThemes: [Theme] = []
    var noNames: [String] = []
    var noKeys: [UUID] = []
    var tag = Tag(rawValue: "t")
    var tags: Set<Tag> = [Tag(rawValue: "b"), Tag(rawValue: "a")]
    var numbers: Set<Int> = [3, 1, 2]
    var table = ["b": 2, "a": 1]
    var ages = [2: "two", 1: "one"]
    var votes: [Colour: Int] = [.red: 1, .green: 2]
    var span = 1..<5
    var maybeNames: [String]? = []
    var noMaybeNames: [String]?
    var grid = [[1, 2], [], [3]]
    var gaps: [Int?] = [1, nil, 3]
    var length = Meters(2.5)
    var lengths = [Meters(1), Meters(2)]
    var times = [Date(timeIntervalSinceReferenceDate: 5)]
    var blobs = [Data([1]), Data()]
    var flags = [true, false]
    var small: [Int16] = [1, -2]
    var maybe: String?
    var maybeLength: Meters? = Meters(9)
    @CloudKitValue var place = CLLocation(latitude: 1, longitude: 2)
    @CloudKitValue var places = [CLLocation(latitude: 3, longitude: 4)]
    @CloudKitValue var noPlace: CLLocation?
    @CloudKitValue var target = CKRecord.Reference(
        recordID: CKRecord.ID(recordName: "x"),
        action: .deleteSelf
    )
    var friend = CloudKitReference<Everything>(recordName: "friend", action: .none)
    var friends = [CloudKitReference<Everything>(recordName: "a")]
    var secret = "secret"
    var scan = Data(repeating: 7, count: 100)
    var report = Data(repeating: 8, count: 100)
    var memo = Data(repeating: 9, count: 5)
    var loose = ["x"]

    static var fields: CloudKitFields {
        [
            CodingKeys.id: .recordName,
            CodingKeys.secret: .encrypted,
            CodingKeys.scan: .asset,
            CodingKeys.report: .asset(above: 50),
            CodingKeys.memo: .asset(above: 50),
            CodingKeys.loose: .json.named("renamed"),
        ]
    }
}
