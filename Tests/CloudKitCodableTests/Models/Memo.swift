#if Macros
import CloudKit
import CloudKitCodable
import CoreLocation
import Foundation

@CloudKitRecord
struct Drawer: Equatable, Identifiable {
    var id: String
    var title: String
}

@CloudKitRecord("Note")
struct Memo: Identifiable {
    @CloudKitField(.recordName) var id: String
    var title: String
    var subtitle: String?
    var count = 0
    var price: Double?
    var isDone = false
    var due: Date?
    var color: Color?
    var uuid: UUID?
    @CloudKitField("words") var tags: [String] = []
    var colors: [Color]?
    var folder: CloudKitReference<Drawer>?
    var folders: [CloudKitReference<Drawer>] = []
    @CloudKitValue var owner: CKRecord.Reference?
    @CloudKitValue var place: CLLocation?
    @CloudKitField(.encrypted) var secret: String?
    @CloudKitField(.asset(above: 10)) var scan: Data?
    @CloudKitField(.json) var loose: String?
    @CloudKitField(.children(via: "note")) var pages: [Drawer] = []

    init(_ id: String, title: String) {
        self.id = id
        self.title = title
    }
}
#endif
