#if Macros
import CloudKit
import CloudKitCodable
import CoreLocation
import Foundation

enum Color: String, Codable, CaseIterable {
    case red, green, blue
}

enum Priority: Int, CloudKitIntEnum, CaseIterable {
    case low, high
}

struct Figure: Codable, Equatable {
    var name: String
    var sides: [Int]
}

@CloudKitRecord
struct Friend: Equatable, Identifiable {
    var id: String
    var name: String
}

/// A property of every kind that a record can hold.
@CloudKitRecord("Stuff")
struct Thing: Equatable {
    @CloudKitField(.recordName) var id: UUID
    var text: String
    var optionalText: String?
    var flag: Bool
    var optionalFlag: Bool?
    var int: Int
    var optionalInt: Int?
    var int8: Int8
    var int16: Int16
    var int32: Int32
    var int64: Int64
    var uint: UInt
    var uint8: UInt8
    var uint16: UInt16
    var uint32: UInt32
    var uint64: UInt64?
    var width, height: Double
    var float: Float
    var optionalFloat: Float?
    var date: Date
    var optionalDate: Date?
    var data: Data
    var optionalData: Data?
    var uuid: UUID
    var optionalUUID: UUID?
    var url: URL
    var decimal: Decimal
    var color: Color
    var optionalColor: Color?
    var level: Priority
    var texts: [String]
    var optionalTexts: [String]?
    var ints: [Int]
    var smallInts: [Int8]
    var dates: [Date]
    var uuids: [UUID]
    var colors: [Color]
    var words: Set<String>
    @CloudKitValue var place: CLLocation?
    @CloudKitValue var places: [CLLocation]
    @CloudKitValue var owner: CKRecord.Reference?
    @CloudKitValue var file: CKAsset?
    var shape: Figure
    var optionalShape: Figure?
    var shapes: [Figure]
    var table: [String: Int]
    var friend: CloudKitReference<Friend>?
    var friends: [CloudKitReference<Friend>]
    @CloudKitField(.reference(.deleteSelf)) var best: Friend?
    var team: [Friend]
    @CloudKitField("t") var renamed: String
    @CloudKitField(.named("u")) var alsoRenamed: Int?
    @CloudKitField(.encrypted) var secret: String?
    @CloudKitField("hidden", .encrypted) var secretNumber: Int
    @CloudKitField(.asset) var scan: Data
    @CloudKitField(.asset(above: 16)) var letter: Data?
    @CloudKitField(.json) var loose: String
    @CloudKitField(.ignored) var isSelected = false
    var count = 0
    var `default` = "none"

    /// The zone of all things.
    static let zoneID = CKRecordZone.ID(zoneName: "Things")

    /// A computed property, which is no field.
    var area: Double { width * height }
}
#endif
