#if Macros
import SwiftDiagnostics

/// A problem of a declaration and its remedy.
struct RecordProblem: DiagnosticMessage {
    let code: String
    let message: String

    var diagnosticID: MessageID { MessageID(domain: "CloudKitMacros", id: code) }
    var severity: DiagnosticSeverity { .error }

    private init(_ code: String, _ message: String) {
        self.code = code
        self.message = message
    }
}

// MARK: Of the type

extension RecordProblem {
    static let notStructOrClass = RecordProblem(
        "notStructOrClass",
        """
        @CloudKitRecord is for structs and classes, at their declaration; make an enumeration or an \
        actor a property of one
        """
    )

    static func generic(_ name: String) -> RecordProblem {
        RecordProblem(
            "generic",
            """
            \(name) is generic, or in a generic type, and one record type cannot have fields of \
            several types; conform to CloudKitModel instead
            """
        )
    }

    static func classWithoutCodable(_ name: String) -> RecordProblem {
        RecordProblem(
            "classWithoutCodable",
            """
            \(name) can have subclasses, so only its own declaration can be Codable: write \
            'class \(name): Codable', or make it final
            """
        )
    }

    static func inheritedMapping(_ name: String) -> RecordProblem {
        RecordProblem(
            "inheritedMapping",
            """
            \(name) inherits the mapping of its superclass; leave @CloudKitRecord out, and code the \
            properties of the subclass in encode(to:) and init(from:)
            """
        )
    }

    static func invalidRecordType(_ name: String) -> RecordProblem {
        RecordProblem(
            "invalidRecordType",
            """
            '\(name)' cannot be a record type: state one that starts with a letter and holds up to \
            255 ASCII letters, digits and underscores
            """
        )
    }

    static let twoRecordTypes = RecordProblem(
        "twoRecordTypes",
        "the record type is stated here and by 'recordType'; leave one out"
    )

    static let twoTables = RecordProblem(
        "twoTables",
        "the type has a table 'fields' of its own; use either the table or @CloudKitField"
    )

    static let twoRecordNames = RecordProblem(
        "twoRecordNames",
        "another property is the record's name already"
    )

    static func noRecordName(_ name: String) -> RecordProblem {
        RecordProblem(
            "noRecordName",
            """
            nothing determines which record a \(name) is: mark a String or a UUID with \
            @CloudKitField(.recordName), or write 'var recordName: String' in the declaration
            """
        )
    }

    static func identifierType(_ name: String, _ type: String) -> RecordProblem {
        RecordProblem(
            "identifierType",
            """
            'id' is of type \(type), and a record's name is a String or a UUID: write \
            'var recordName: String { "\(name.lowercased())-\\(id)" }' in the declaration
            """
        )
    }

    static func notIdentifiable(_ name: String) -> RecordProblem {
        RecordProblem(
            "notIdentifiable",
            """
            'id' is the record's name only where \(name) is Identifiable: declare the \
            conformance, or mark 'id' with @CloudKitField(.recordName)
            """
        )
    }

    static let keysElsewhere = RecordProblem(
        "keysElsewhere",
        "@CloudKitRecord reads coding keys from an enumeration; write them as one"
    )

    static let conditionalProperty = RecordProblem(
        "conditionalProperty",
        """
        @CloudKitRecord does not see which condition holds; move the stored property out of the #if
        """
    )

    static func notLiteral(_ what: String) -> RecordProblem {
        RecordProblem("notLiteral", "the \(what) must be a text without interpolation")
    }

    static func sharedField(_ field: String, _ one: String, _ other: String) -> RecordProblem {
        RecordProblem(
            "sharedField",
            "'\(other)' would be stored in the field '\(field)', which is that of '\(one)'"
        )
    }
}

// MARK: Of a property

extension RecordProblem {
    static let notStored = RecordProblem(
        "notStored",
        "@CloudKitField is for stored properties of instances"
    )

    static let outsideRecord = RecordProblem(
        "outsideRecord",
        "@CloudKitField has no effect in a type without @CloudKitRecord; add it to 'fields' instead"
    )

    static let twoFields = RecordProblem(
        "twoFields",
        "a property has one @CloudKitField; join them, as in @CloudKitField(\"name\", .encrypted)"
    )

    static let tuplePattern = RecordProblem(
        "tuplePattern",
        "declare each property by itself, so that each has a name for its field"
    )

    static func constantWithValue(_ name: String) -> RecordProblem {
        RecordProblem(
            "constantWithValue",
            """
            '\(name)' cannot be read from a record, because it is a constant that has its value \
            already; make it a variable, static, or @CloudKitField(.ignored)
            """
        )
    }

    static func ignoredWithoutValue(_ name: String) -> RecordProblem {
        RecordProblem(
            "ignoredWithoutValue",
            "'\(name)' is ignored, so it needs a default value, or to be an optional variable"
        )
    }

    static let propertyFields = RecordProblem(
        "propertyFields",
        """
        'fields' is the name of the table of storage options; rename the property, and \
        keep the field's name with @CloudKitField("fields")
        """
    )

    static func missingType(_ name: String) -> RecordProblem {
        RecordProblem("missingType", "write the type of '\(name)'; its value does not show it here")
    }

    static func otherWrapper(_ name: String) -> RecordProblem {
        RecordProblem(
            "otherWrapper",
            """
            @CloudKitRecord knows no wrapper but @CloudKitValue, so it cannot map '\(name)'; leave \
            the macro out and conform to CloudKitModel
            """
        )
    }

    static func invalidField(_ field: String, _ reason: String) -> RecordProblem {
        RecordProblem(
            "invalidField",
            "'\(field)' cannot be a field: \(reason); give it another with @CloudKitField(\"name\")"
        )
    }

    static func unsupportedType(_ name: String, _ type: String) -> RecordProblem {
        RecordProblem(
            "unsupportedType",
            """
            a record cannot hold '\(name)': '\(type)' is not Codable; make it a Codable type, or \
            @CloudKitField(.ignored) with a default value
            """
        )
    }

    static func unwrappedNative(_ name: String, _ type: String) -> RecordProblem {
        RecordProblem(
            "unwrappedNative",
            "'\(type)' is not Codable; write '@CloudKitValue var \(name)'"
        )
    }

    static func encryptedObject(_ name: String, _ type: String) -> RecordProblem {
        RecordProblem(
            "encryptedObject",
            "CloudKit does not encrypt a \(type); '\(name)' cannot be .encrypted"
        )
    }

    static func recordNameType(_ name: String) -> RecordProblem {
        RecordProblem(
            "recordNameType",
            "'\(name)' is the record's name, which is a String or a UUID; write its type"
        )
    }

    static func weakProperty(_ name: String) -> RecordProblem {
        RecordProblem(
            "weakProperty",
            """
            a record cannot hold '\(name)', which keeps nothing alive; use a CloudKitReference, or \
            @CloudKitField(.ignored)
            """
        )
    }
}
#endif
