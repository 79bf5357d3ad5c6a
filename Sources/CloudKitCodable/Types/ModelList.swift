import CloudKit

/// A list of models, whatever their type: a list of references in a record.
protocol ModelList {
    static var modelType: any CloudKitModel.Type { get }

    /// The models as nodes of a graph, in a stable order.
    var nodes: [GraphNode] { get }

    /// Decodes the models of records in a graph, at the location of their list.
    static func models(
        _ recordIDs: [CKRecord.ID],
        of graph: GraphDecoding,
        at location: CodingLocation
    ) throws -> Self
}

extension Array: ModelList where Element: CloudKitModel {
    static var modelType: any CloudKitModel.Type { Element.self }

    var nodes: [GraphNode] { map { GraphNode($0) } }

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

extension Set: ModelList where Element: CloudKitModel {
    static var modelType: any CloudKitModel.Type { Element.self }

    /// The models in the order of their names, because a set has no order.
    var nodes: [GraphNode] { sorted { $0.recordName < $1.recordName }.nodes }

    static func models(
        _ recordIDs: [CKRecord.ID],
        of graph: GraphDecoding,
        at location: CodingLocation
    ) throws -> Set<Element> {
        Set(try [Element].models(recordIDs, of: graph, at: location))
    }
}
