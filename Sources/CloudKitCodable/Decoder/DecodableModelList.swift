import CloudKit

/// A list of models that is decoded from their records, whatever their type.
protocol DecodableModelList: ModelList {
    /// Decodes the models of records in a graph, at the location of their list.
    static func models(
        _ recordIDs: [CKRecord.ID],
        of graph: GraphDecoding,
        at location: CodingLocation
    ) throws -> Self
}

extension Array: DecodableModelList where Element: CloudKitModel {
    static func models(
        _ recordIDs: [CKRecord.ID],
        of graph: GraphDecoding,
        at location: CodingLocation
    ) throws -> [Element] {
        var models: [Element] = []
        models.reserveCapacity(recordIDs.count)
        var lacking: GraphNeeds.Signal?
        for (index, recordID) in recordIDs.enumerated() {
            let place = location.appending(index: index)
            do {
                if let model = try graph.model(Element.self, for: recordID, at: place) {
                    models.append(model)
                } else if graph.missing == .fail {
                    throw graph.missing(Element.self, recordID, place)
                }
            } catch let signal as GraphNeeds.Signal {
                // The others may lack records too: all of them are fetched together.
                lacking = signal
            }
        }
        if let lacking { throw lacking }
        return models
    }
}

extension Set: DecodableModelList where Element: CloudKitModel {
    static func models(
        _ recordIDs: [CKRecord.ID],
        of graph: GraphDecoding,
        at location: CodingLocation
    ) throws -> Set<Element> {
        Set(try [Element].models(recordIDs, of: graph, at: location))
    }
}
