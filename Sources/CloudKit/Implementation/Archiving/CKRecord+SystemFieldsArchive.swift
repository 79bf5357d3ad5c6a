import Foundation

extension CKRecord {
    /// The archive that a keyed archiver and `encodeSystemFields(with:)` write, without Foundation's
    /// archiver where possible.
    package var systemFieldsArchive: Data {
        if type(of: self) == CKRecord.self {
            let writer = ArchiveWriter()
            encodeSystemFields(with: writer)
            if let data = writer.data() { return data }
        }
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        encodeSystemFields(with: archiver)
        archiver.finishEncoding()
        return archiver.encodedData
    }

    /// Creates the record that an archive of system fields describes, without Foundation's
    /// unarchiver; nil when the bytes are another archive, or none.
    package convenience init?(systemFieldsArchive data: Data) {
        guard let contents = ArchiveBytes(data) else { return nil }
        self.init(coder: ArchiveReader(contents))
    }
}
