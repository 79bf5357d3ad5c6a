// Only code that compiles on both sides, unmodified: here, and against Apple's framework.
import CloudKit
import Testing

@Suite("Calls of CKAsset")
struct CKAssetCalls {
    @Test("Files go into records and come out of them")
    func assets() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data("photo".utf8).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        let record = CKRecord(recordType: "Photo")
        record["image"] = CKAsset(fileURL: url)
        record["images"] = [CKAsset(fileURL: url), CKAsset(fileURL: url)]
        let asset = CKAsset(fileURL: url)
        record["image"] = asset

        if let asset = record["image"] as? CKAsset, let file = asset.fileURL,
            let data = try? Data(contentsOf: file)
        {
            #expect(data == Data("photo".utf8))
        } else {
            Issue.record("no file")
        }
        guard let image = record["image"] as? CKAsset else { return }
        #expect(image.fileURL?.lastPathComponent == url.lastPathComponent)
        #expect((record["images"] as? [CKAsset])?.compactMap(\.fileURL).count == 2)
        let typed: CKAsset? = record["image"]
        #expect(typed?.fileURL == url)
        record["image"] = nil
        #expect(record["image"] == nil)
    }
}
