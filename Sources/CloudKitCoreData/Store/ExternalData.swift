import Foundation
import GRDB

/// The values that a store keeps in files beside it.
struct ExternalData: Sendable {
    /// The byte before a value of an attribute that may be in files.
    enum Mark {
        static let inline: UInt8 = 1
        static let file: UInt8 = 2
        /// Added by the query for text, which has no mark in the store.
        static let text: UInt8 = 0
    }

    /// SQLite's own limit for a value.
    private static let longest = 1_000_000_000

    let folder: URL

    /// Creates the external data in a store's folder.
    init(besideStoreAt url: URL) {
        let name = url.deletingPathExtension().lastPathComponent
        folder = url.deletingLastPathComponent()
            .appendingPathComponent(".\(name)_SUPPORT/_EXTERNAL_DATA")
    }

    /// Returns the file that the bytes after the mark name; nil when they name none.
    ///
    /// Only an identifier is accepted, so that a store cannot name other files.
    func file(_ reference: Data) -> URL? {
        let text = reference.last == 0 ? reference.dropLast() : reference
        guard text.count == 36, let name = String(validating: text, as: UTF8.self),
            UUID(uuidString: name) != nil
        else { return nil }
        return folder.appendingPathComponent(name)
    }

    func hasFile(_ reference: Data) -> Bool {
        guard let file = file(reference) else { return false }
        return Self.size(of: file) != nil
    }

    /// Returns the size of a plain file; nil for links and folders.
    private static func size(of file: URL) -> Int? {
        guard
            // A file that is not there has no size.
            let attributes = try? FileManager.default.attributesOfItem(atPath: file.path),
            attributes[.type] as? FileAttributeType == .typeRegular
        else { return nil }
        return (attributes[.size] as? NSNumber)?.intValue
    }

    /// Returns the content of a value's file.
    func content(_ reference: Data) throws(CoreDataStoreError) -> Data {
        guard let file = file(reference) else {
            throw CoreDataStoreError(.invalidRow, "", "it names no file of the store")
        }
        guard let size = Self.size(of: file), size <= Self.longest else {
            throw missing(file)
        }
        do {
            return try Data(contentsOf: file)
        } catch {
            throw missing(file)
        }
    }

    private func missing(_ file: URL) -> CoreDataStoreError {
        CoreDataStoreError(
            .missingFile,
            "",
            "its file \(file.lastPathComponent) is not in \(folder.lastPathComponent); copy the "
                + "folder \(folder.deletingLastPathComponent().lastPathComponent) too"
        )
    }
}

/// The check whether values of an attribute may be in files, if a model does not specify it.
///
/// A model's file specifies it; a store's copy of its model, and a compiled one, were never
/// observed to. Then the values decide: each value of such an attribute begins with a mark.
struct ExternalDataQuestion {
    private let reader: StoreLayoutReader
    private let table: String
    private let value: StoreLayout.Value

    init(_ reader: StoreLayoutReader, _ table: String, _ value: StoreLayout.Value) {
        self.reader = reader
        self.table = table
        self.value = value
    }

    private var name: String { "\(value.owner).\(value.key)" }

    func isExternal() throws -> Bool {
        if let said = reader.externalData[name] { return said }
        if value.attribute.allowsExternalStorage { return true }
        guard reader.model.isArchived,
            [.binary, .transformable, .string].contains(value.attribute.type)
        else { return false }
        let column = value.column.quotedName
        let row = try Row.fetchOne(
            reader.database,
            sql: """
                SELECT count(*), sum(substr(\(column), 1, 1) = x'01'),
                    sum(substr(\(column), 1, 1) = x'02' AND length(\(column)) IN (37, 38))
                FROM main.\(table.quotedName) NOT INDEXED WHERE typeof(\(column)) = 'blob'
                """
        )
        func count(_ place: Int) -> Int { row.flatMap { Int.fromDatabaseValue($0[place]) } ?? 0 }
        guard count(0) > 0, count(1) + count(2) == count(0) else { return false }
        if try hasFile(column) { return true }
        throw CoreDataStoreError(
            .unknownExternalData,
            name,
            "all values begin as those that may be in files do, and the store does not say whether "
                + "they are; give the model's file, or say so: --external-data \(name), or "
                + "--inline-data \(name) where they are plain bytes"
        )
    }

    private func hasFile(_ column: String) throws -> Bool {
        let references = try DatabaseValue.fetchCursor(
            reader.database,
            sql: """
                SELECT substr(\(column), 2) FROM main.\(table.quotedName) NOT INDEXED
                WHERE typeof(\(column)) = 'blob' AND substr(\(column), 1, 1) = x'02'
                LIMIT 1000
                """
        )
        while let value = try references.next() {
            if case .blob(let data) = value.storage, reader.files.hasFile(data) { return true }
        }
        return false
    }
}
