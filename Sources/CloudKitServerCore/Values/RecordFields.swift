import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The fields of a record and their stored form: the JSON object of the wire format.
struct RecordFields: Hashable {
    var fields: [String: WireField]

    init(_ fields: [String: WireField] = [:]) {
        self.fields = fields
    }

    /// Reads the stored form.
    init(stored: Data) throws {
        do {
            fields = try WireJSON.decode([String: WireField].self, from: stored)
        } catch {
            throw StorageError(.corrupt, "The fields of a stored record cannot be read: \(error)")
        }
    }

    /// Reads the fields of a record; a damaged record has none.
    init(of record: StoredRecord) throws {
        if record.isDamaged { self.init() } else { try self.init(stored: record.fields) }
    }

    /// The stored form.
    var stored: Data {
        var writer = JSONWriter(capacity: 1024)
        writer.fields(fields)
        return writer.data
    }

    /// `true` when a field holds an asset.
    var hasAssets: Bool {
        fields.values.contains { $0.value?.type.scalar == .asset }
    }

    /// The assets in all fields.
    var assets: [WireAsset] {
        values(of: .asset).flatMap { value -> [WireAsset] in
            switch value {
            case .asset(let asset): [asset]
            case .list(let values, _): values.compactMap(\.asset)
            default: []
            }
        }
    }

    /// The references in all fields.
    var references: [WireReference] {
        values(of: .reference).flatMap { value -> [WireReference] in
            switch value {
            case .reference(let reference): [reference]
            case .list(let values, _): values.compactMap(\.reference)
            default: []
            }
        }
    }

    /// Returns the values of one type, including list elements, by field name.
    private func values(of scalar: FieldType.Scalar) -> [WireValue] {
        let names = fields.filter { $0.value.value?.type.scalar == scalar }.keys
        return names.sorted().compactMap { fields[$0]?.value }
    }
}

extension WireValue {
    /// The asset; nil for other values.
    var asset: WireAsset? {
        if case .asset(let asset) = self { asset } else { nil }
    }

    /// The reference; nil for other values.
    var reference: WireReference? {
        if case .reference(let reference) = self { reference } else { nil }
    }
}

extension RecordFields {
    /// The bytes that the fields take of a quota: their own size and that of their assets.
    var storedBytes: Int64 { assets.reduce(Int64(byteCount)) { $0 + ($1.size ?? 0) } }

    /// The size of a record with these fields and without its assets, as limits count it.
    var byteCount: Int {
        fields.reduce(0) { $0 + $1.key.utf8.count + ($1.value.value?.byteCount ?? 0) }
    }
}

extension StoredRecord {
    /// The bytes that the record takes of a quota; 0 if it is deleted or cannot be read.
    ///
    /// Those of a damaged record are as far as is known, since most damage leaves the size as it was.
    package var storedBytes: Int64 {
        // Fields that cannot be read are reported where the record is; here they count as none.
        isDeleted ? 0 : (try? RecordFields(stored: fields).storedBytes) ?? 0
    }
}
