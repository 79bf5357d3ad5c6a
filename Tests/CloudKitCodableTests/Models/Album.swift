import CloudKitCodable

struct Photo: CloudKitModel, Equatable, Identifiable {
    var id: String
}

struct Album: CloudKitModel, Equatable, Identifiable {
    var id: String
    var title: String
    var photos: [Photo]

    static var fields: CloudKitFields {
        [CodingKeys.photos: .children(via: "album", isHierarchy: true)]
    }
}
