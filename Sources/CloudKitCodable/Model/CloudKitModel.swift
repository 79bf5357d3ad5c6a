public import CloudKit
import Foundation

/// A value that is a record of its own wherever it stands in a graph.
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
/// Properties are stored as a record can hold them: numbers, strings, dates and data as they are,
/// `UUID`, `URL`, `Decimal` and raw values as their plain form, models as references, whatever else
/// is `Codable` as JSON. ``fields`` says where a property is to be treated otherwise.
public protocol CloudKitModel: Codable {
    /// The record type; the name of the Swift type unless stated.
    static var recordType: CKRecord.RecordType { get }

    /// The record's name, unique within its zone among records of all types.
    ///
    /// It must be the same each time the value is encoded. Values of `Identifiable` types whose
    /// identifier is a string or a UUID have it already.
    var recordName: String { get }

    /// What is special about properties, by coding key; nothing unless stated.
    static var fields: CloudKitFields { get }

    /// Whether values are coded by `encode(to:)` alone, and their records are new ones. Do not write
    /// it: it follows from the protocols of the type, when the program is compiled.
    static var _isSimple: Bool { get }
}

extension CloudKitModel {
    /// True.
    @inlinable
    public static var _isSimple: Bool { true }
}

extension CloudKitModel where Self: CloudKitRecordRepresentable {
    /// False.
    @inlinable
    public static var _isSimple: Bool { false }
}

extension CloudKitModel {
    /// The name of the Swift type.
    public static var recordType: CKRecord.RecordType { TypeTraits.of(Self.self).name }

    /// Nothing special.
    public static var fields: CloudKitFields { .nothing }
}

extension CloudKitModel where Self: Identifiable, ID == String {
    /// The identifier.
    public var recordName: String { id }
}

extension CloudKitModel where Self: Identifiable, ID == UUID {
    /// The identifier in the form that UUIDs are printed in.
    public var recordName: String { id.uuidString }
}
