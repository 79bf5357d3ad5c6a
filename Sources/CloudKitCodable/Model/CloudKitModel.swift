public import CloudKit
import Foundation

/// A value that becomes a record of its own wherever it occurs in a graph.
///
/// ```swift
/// struct Country: CloudKitModel {
///     var code: String
///     var name: String
///     var timeZones: [TimeZoneEntry]      // also a model: a list of references
///     var recordName: String { "country-" + code }
/// }
/// ```
///
/// Properties are stored in the form that a record can hold: numbers, strings, dates and data
/// directly; `UUID`, `URL`, `Decimal` and raw values in their plain form; models as references; all
/// other `Codable` values as JSON. ``fields`` lists the exceptions.
public protocol CloudKitModel: Codable {
    /// The record type; by default the name of the Swift type.
    static var recordType: CKRecord.RecordType { get }

    /// The record's name, unique within its zone among records of all types.
    ///
    /// It must be the same each time the value is encoded. Values of `Identifiable` types whose
    /// identifier is a string or a UUID have it by default.
    var recordName: String { get }

    /// The storage of properties that differ from the default, by coding key; empty by default.
    static var fields: CloudKitFields { get }

    /// A Boolean value that indicates whether values are coded by `encode(to:)` alone, and their
    /// records are new ones. Do not implement it: the compiler derives it from the protocols of the
    /// type.
    static var _isSimple: Bool { get }
}

extension CloudKitModel {
    /// `true`, by default.
    @inlinable
    public static var _isSimple: Bool { true }
}

extension CloudKitModel where Self: CloudKitRecordRepresentable {
    /// `false`, because values determine their records.
    @inlinable
    public static var _isSimple: Bool { false }
}

extension CloudKitModel {
    /// The empty table: all properties use the default storage.
    public static var fields: CloudKitFields { .nothing }
}

extension CloudKitModel where Self: Identifiable, ID == String {
    /// The identifier.
    public var recordName: String { id }
}

extension CloudKitModel where Self: Identifiable, ID == UUID {
    /// The identifier in the form in which UUIDs are printed.
    public var recordName: String { id.uuidString }
}
