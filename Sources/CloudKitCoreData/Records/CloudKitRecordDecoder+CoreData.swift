public import CloudKit
public import CloudKitCodable
import Foundation

extension CloudKitRecordDecoder {
    /// Decodes a value from a record of an app with Core Data or SwiftData.
    ///
    /// The value's properties have the names of the model's attributes; to-one relationships are strings, the
    /// names of the targets' records.
    ///
    /// ```swift
    /// struct Note: Codable { var title: String; var folder: String? }
    /// let note = try CloudKitRecordDecoder().decode(Note.self, from: record, format: .coreData(model))
    /// ```
    ///
    /// - Parameters:
    ///   - type: The value's type.
    ///   - record: The record, with the files of its assets.
    ///   - format: The format of the model.
    /// - Returns: The value.
    /// - Throws: ``CoreDataRecordError`` for a record that is not of the model, or `DecodingError`.
    public func decode<T: Decodable>(
        _ type: T.Type,
        from record: CKRecord,
        format: CoreDataFormat
    ) throws -> T {
        guard let object = try format.object(record) else {
            throw CoreDataRecordError(
                .unknownEntity,
                CoreDataFormat.place(record),
                "it is no object of Core Data, whose record types begin with CD_"
            )
        }
        return try decode(type, from: object.plainRecord())
    }

    /// Decodes a value from an object of an app with Core Data or SwiftData.
    ///
    /// - Parameters:
    ///   - type: The value's type.
    ///   - object: The object, such as one of a ``CoreDataGraph``.
    /// - Returns: The value.
    /// - Throws: `DecodingError` with the path to the property.
    public func decode<T: Decodable>(_ type: T.Type, from object: CoreDataObject) throws -> T {
        try decode(type, from: object.plainRecord())
    }
}

extension CoreDataObject {
    /// Returns a record whose fields are the properties, under their own names.
    func plainRecord() -> CKRecord {
        let record = CKRecord(recordType: entity, recordID: recordID)
        for (name, value) in values {
            // The mapper has decimals as text, which keeps their digits.
            if case .decimal(let number) = value {
                record[name] = "\(number)"
            } else {
                record.setObject(value.object, forKey: name)
            }
        }
        for (name, target) in links { record[name] = target }
        return record
    }
}
