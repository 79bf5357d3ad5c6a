/// Remedies for errors of graphs, in the terms of the API in use.
enum GraphRemedy {
    /// Returns the remedy for models that are nested endlessly.
    static func chain(isOtherAPI: Bool) -> String {
        isOtherAPI
            ? "leave the key out with ignoredProperties()"
            : "break the chain with a CloudKitReference"
    }

    /// Returns the remedy for a reference to a missing record, or for a missing root.
    static func missing(isRoot: Bool, isOtherAPI: Bool) -> String {
        if isRoot { return "look at its name and its zone; it may be deleted, or not saved yet" }
        return isOtherAPI
            ? "save the record, or remove the reference to it"
            : "make the property optional and decode with MissingRecords.omit where that may happen"
    }

    /// Returns the text of an error with which a value's own coding ended.
    static func text(of error: any Error, isOtherAPI: Bool) -> String {
        guard isOtherAPI,
            case CloudKitRecordEncodingError.dataFieldTooLarge(let key, let size) = error
        else { return CodingProblem.text(of: error) }
        return """
            The value of "\(key)" takes \(size) bytes; a record holds 1 MB. Set storesAssets of the \
            encoder if it is Data, or leave the key out with ignoredProperties().
            """
    }
}
